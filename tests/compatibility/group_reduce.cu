// SPDX-License-Identifier: MIT
// FEATURE: cooperative groups: `cg::reduce`
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "program.h"

namespace cg = cooperative_groups;

__global__ void show(int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  out[threadIdx.x] = cg::reduce(warp, int(threadIdx.x), cg::plus<int>());
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[3] == 496);
}
