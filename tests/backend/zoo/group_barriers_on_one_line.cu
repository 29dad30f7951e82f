// SPDX-License-Identifier: MIT
// Both branches synchronise the block as a group, on one line: they are two barriers all the same.
// EXPECT: {file}:{both}: error: threads of one block wait at different barriers in kernel 'two_barriers', block (0,0,0), thread (0,0,0)
// EXPECT: they stand on one line of the source, and are two barriers
// EXPECT-NOT: never_reached
// RUN: CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_SCHEDULE=reverse

#include <cooperative_groups.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void two_barriers(int* x) {
  const cg::thread_block block = cg::this_thread_block();
  // clang-format off
  if (threadIdx.x % 2 == 0) { x[threadIdx.x] = 0; block.sync(); } else { cg::sync(block); }  // @both
  // clang-format on
}

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 8 * sizeof(int));
  two_barriers<<<1, 8>>>(d_x);
  if (cudaDeviceSynchronize() == cudaSuccess) std::fprintf(stderr, "never_reached\n");
  cudaFree(d_x);
  return 0;
}
