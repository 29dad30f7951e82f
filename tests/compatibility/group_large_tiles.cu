// SPDX-License-Identifier: MIT
// FEATURE: cooperative groups: tiles of several warps
#include <cooperative_groups.h>

#include "program.h"

namespace cg = cooperative_groups;

__global__ void show(int* out) {
  __shared__ cg::block_tile_memory<128> memory;
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  out[threadIdx.x] = 1;
  tile.sync();
  if (tile.thread_rank() == 0) {
    for (int i = 1; i < 64; ++i) out[threadIdx.x] += out[threadIdx.x + i];
  }
}

int main() {
  int* out = numbers();
  show<<<1, 128>>>(out);
  wait();
  return answer(out[0] == 64 && out[64] == 64);
}
