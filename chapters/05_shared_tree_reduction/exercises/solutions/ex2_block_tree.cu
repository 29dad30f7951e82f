// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 05, fix the bug: a barrier that some threads never reach.
//
// A tree for blocks of 32, 64, ... 1024 threads: each block leaves the sum of its elements in
// sums[blockIdx.x], a block without elements leaves 0. It is right whenever n is a multiple of the
// block. Make it right for every n.
// Check it: make lab CH=05 EX=2      A hint: make hint CH=05 EX=2
#include "common/common.cuh"

constexpr unsigned kMaxBlock = 1024;

__global__ void tree_of_block(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  const unsigned t = threadIdx.x;
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + t;
  partial[t] = i < n ? x[i] : 0;  // the others bring 0, and come along to every barrier
  __syncthreads();                // the first level reads what the upper half of the threads wrote
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();  // the next level reads sums that other threads have just written
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}
