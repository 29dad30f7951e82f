// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 04, fix the bug: a kernel for one block, launched with many.
//
// In a grid of T threads, thread g (counted through all blocks) adds up the elements g, g + T,
// g + 2 * T, ... of x and leaves the sum in partial[g]; a thread without elements leaves 0. The
// kernel below is chapter 03's, written as if there were one block. Make it right for any number.
// Check it: make lab CH=04 EX=1      A hint: make hint CH=04 EX=1
#include "common/common.cuh"

__global__ void sum_of_share(const int* x, std::size_t n, long long* partial) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  long long sum = 0;
  for (std::size_t i = first; i < n; i += stride) sum += x[i];
  partial[first] = sum;
}
