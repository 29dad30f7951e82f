// SPDX-License-Identifier: MIT
// The blocks take different branches, each as a whole, and meet at grid barriers of one line; all
// threads pass several on one line in turn.
// EXPECT-STATUS: 0
// EXPECT-NOT: error
// EXPECT-STDOUT: 28 28

#include <cooperative_groups.h>

#include <cstdio>

#include "../../../common/check.cuh"

namespace cg = cooperative_groups;

__global__ void sum_of_the_other(const int* x, int* partial, int* total) {
  const cg::grid_group grid = cg::this_grid();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < 8; ++i) sum += x[i];
    partial[blockIdx.x] = sum;
  }
  // clang-format off
  if (blockIdx.x == 0) { grid.sync(); } else { cg::sync(grid); } grid.sync(); cg::this_grid().sync();
  // clang-format on
  if (threadIdx.x == 0) total[blockIdx.x] = partial[1 - blockIdx.x];
}

int main() {
  const int x[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int total[2] = {};
  int *d_x, *d_partial, *d_total;
  CUDA_CHECK(cudaMalloc(&d_x, sizeof(x)));
  CUDA_CHECK(cudaMalloc(&d_partial, sizeof(total)));
  CUDA_CHECK(cudaMalloc(&d_total, sizeof(total)));
  CUDA_CHECK(cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice));
  const int* in = d_x;
  void* arguments[] = {&in, &d_partial, &d_total};
  CUDA_CHECK(
      cudaLaunchCooperativeKernel(sum_of_the_other, dim3(2), dim3(8), arguments, 0, nullptr));
  CUDA_CHECK(cudaMemcpy(total, d_total, sizeof(total), cudaMemcpyDeviceToHost));
  std::printf("%d %d\n", total[0], total[1]);
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_partial));
  CUDA_CHECK(cudaFree(d_total));
}
