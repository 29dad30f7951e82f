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
  if (i < n) to[i] = from[i];  // the last block may reach past the end
}

// `block`: threads per block.
void launch_copy_ints(const int* from, int* to, std::size_t n, unsigned block) {
  const std::size_t blocks = div_up(n, block);  // rounded up: a block for the rest, too
  copy_ints<<<static_cast<unsigned>(blocks), block>>>(from, to, n);
  CUDA_CHECK_LAUNCH();
}
