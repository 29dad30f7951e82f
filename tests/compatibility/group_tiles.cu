// SPDX-License-Identifier: MIT
// FEATURE: cooperative groups: `tiled_partition` of up to 32 threads
#include <cooperative_groups.h>

#include "program.h"

namespace cg = cooperative_groups;

__global__ void show(int* out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int x = tile.thread_rank();
  for (int step = 4; step > 0; step /= 2) x += tile.shfl_xor(x, step);
  out[threadIdx.x] = x + tile.meta_group_rank();
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[31] == 31);
}
