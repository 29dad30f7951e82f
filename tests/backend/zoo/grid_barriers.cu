// SPDX-License-Identifier: MIT
// Barriers of a grid: in a launch that is not cooperative, on one line, and right ones.
//
// CASE: plain_launch
// A kernel with a grid barrier is launched with <<<>>>: its blocks need not be resident together.
// EXPECT: {file}:{sync}: error: grid barrier in a launch that is not cooperative in kernel 'two_phases', block (0,0,0), thread (0,0,0)
// EXPECT: cudaLaunchCooperativeKernel
//
// CASE: of_blocks
// The blocks take different branches, each as a whole, and meet at grid barriers of one line; all
// threads pass several on one line in turn.
// EXPECT-STDOUT: 28 28
//
// CASE: two_branches
// Half of each block waits for the grid in one branch, half in the other. Both stand on one line,
// and then on two.
// EXPECT: {file}:{one}: error: threads of one block wait at different barriers in kernel 'on_one_line', block (0,0,0), thread (0,0,0)
// EXPECT: they stand on one line of the source, and are two barriers
// EXPECT: {file}:{one}: note: threads 0-3 waiting here in the grid barrier
// EXPECT: {file}:{one}: note: threads 4-7 waiting here in the grid barrier
// EXPECT: help: every thread of the block must come to the same grid barrier: move it out of the branch
// EXPECT: {file}:{first}: error: threads of one block wait at different barriers in kernel 'on_two_lines', block (0,0,0), thread (0,0,0)
// EXPECT-NOT: never_reached
// RUN: CUDA_CPU_WORKERS=1

#include <cooperative_groups.h>

#include <cstdio>

#include "../../../common/check.cuh"
#include "cases.cuh"

namespace cg = cooperative_groups;

__global__ void two_phases(int* x) {
  x[blockIdx.x] = 1;
  cooperative_groups::this_grid().sync();  // @sync
}

CASE(plain_launch) {
  run_on(1, [](int* d_x) { two_phases<<<1, 1>>>(d_x); });
}

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

CASE(of_blocks) {
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

__global__ void on_one_line() {
  const cg::grid_group grid = cg::this_grid();
  // clang-format off
  if (threadIdx.x < 4) { grid.sync(); } else { cg::sync(grid); }  // @one
  // clang-format on
}

__global__ void on_two_lines() {
  if (threadIdx.x < 4) {
    cg::this_grid().sync();  // @first
  } else {
    cg::this_grid().sync();
  }
}

template <class Kernel>
void run(Kernel kernel) {
  cudaLaunchCooperativeKernel(kernel, dim3(2), dim3(8), nullptr, 0, nullptr);
  if (cudaDeviceSynchronize() == cudaSuccess) std::fprintf(stderr, "never_reached\n");
  cudaDeviceReset();
}

CASE(two_branches) {
  run(on_one_line);
  run(on_two_lines);
}
