// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 01, fix the bug: the last block that never came.
//
// Each thread copies one int. As long as n is a multiple of the block, every int is copied. Make it
// right for any n from 1 on, with as few blocks as it takes. Two things are wrong, and the first
// hides the second.
// Check it: make lab CH=01 EX=2      A hint: make hint CH=01 EX=2
#include "common/common.cuh"

__global__ void copy_ints(const int* from, int* to, std::size_t n) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  // TODO: which threads have an int to copy?
  if (i <= n) to[i] = from[i];
  // end of TODO
}

// `block`: threads per block.
void launch_copy_ints(const int* from, int* to, std::size_t n, unsigned block) {
  // TODO: how many blocks does it take?
  const std::size_t blocks = n / block;
  // end of TODO
  copy_ints<<<static_cast<unsigned>(blocks), block>>>(from, to, n);
  CUDA_CHECK_LAUNCH();
}
