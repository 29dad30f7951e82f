// SPDX-License-Identifier: MIT
// FEATURE: cooperative groups: `this_grid` and its `sync`
#include <cooperative_groups.h>

#include "program.h"

namespace cg = cooperative_groups;

__global__ void show(int* out) {
  const cg::grid_group grid = cg::this_grid();
  if (threadIdx.x == 0) out[1 + blockIdx.x] = blockIdx.x + 1;
  grid.sync();
  if (grid.thread_rank() == 0) out[0] = out[1] + out[2];
}

int main() {
  int* out = numbers();
  void* arguments[] = {&out};
  MUST(cudaLaunchCooperativeKernel((void*)show, dim3(2), dim3(32), arguments, 0, nullptr));
  wait();
  return answer(out[0] == 3);
}
