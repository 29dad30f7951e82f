// SPDX-License-Identifier: MIT
// FEATURE: cooperative groups: `cg::inclusive_scan`
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

#include "program.h"

namespace cg = cooperative_groups;

__global__ void show(int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  out[threadIdx.x] = cg::inclusive_scan(warp, int(threadIdx.x), cg::plus<int>());
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[3] == 6 && out[31] == 496);
}
