// SPDX-License-Identifier: MIT
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

namespace cg = cooperative_groups;

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

int main() {
  run(on_one_line);
  run(on_two_lines);
  return 1;  // cudaDeviceReset has forgotten that there was an error
}
