// SPDX-License-Identifier: MIT
// Both branches have a barrier, on one line: they are two barriers all the same.
// EXPECT: {file}:{both}: error: threads of one block wait at different barriers in kernel 'two_barriers', block (0,0,0), thread (0,0,0)
// EXPECT: they stand on one line of the source, and are two barriers
// EXPECT: {file}:{both}: note: threads 0, 2, 4, 6 waiting here in __syncthreads
// EXPECT: {file}:{both}: note: threads 1, 3, 5, 7 waiting here in __syncthreads
// EXPECT-NOT: never_reached
// RUN: CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_SCHEDULE=random:1

#include <cstdio>

__global__ void two_barriers(int* x) {
  // clang-format off
  if (threadIdx.x % 2 == 0) { x[threadIdx.x] = 0; __syncthreads(); } else { __syncthreads(); }  // @both
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
