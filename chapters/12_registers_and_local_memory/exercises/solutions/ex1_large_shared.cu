// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 12, fix the bug: a launch that is refused.
//
// One block of 256 threads reverses n ints, 24 Ki at most, by way of shared memory. It works up to
// n = 12288. An H200 has room for four times as many in a block, but a launch that needs more than
// 48 KiB of dynamic shared memory is refused unless its kernel has been allowed to.
// Check it: make lab CH=12 EX=1      A hint: make hint CH=12 EX=1
#include "common/common.cuh"

constexpr unsigned kThreads = 256;

__global__ void reverse_by_block(const int* x, unsigned n, int* y) {
  extern __shared__ int held[];  // n slots
  for (unsigned i = threadIdx.x; i < n; i += kThreads) held[i] = x[i];
  __syncthreads();  // threads read what others have written
  for (unsigned i = threadIdx.x; i < n; i += kThreads) y[i] = held[n - 1 - i];
}

void launch_reverse(const int* x, unsigned n, int* y) {
  const std::size_t bytes = n * sizeof(int);
  CUDA_CHECK(cudaFuncSetAttribute(reverse_by_block, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
  reverse_by_block<<<1, kThreads, bytes>>>(x, n, y);
  CUDA_CHECK_LAUNCH();
}
