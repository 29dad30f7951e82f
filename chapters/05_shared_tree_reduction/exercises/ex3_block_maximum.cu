// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 05, write the kernel: the largest element of each block, by a tree.
//
// Each block leaves the largest of its elements in maxima[blockIdx.x]; a block without elements
// leaves INT_MIN. n is any number, the block 32, 64, ... or 1024 threads, one element each. The
// array is sized by the launch, which you write as well.
// Check it: make lab CH=05 EX=3      A hint: make hint CH=05 EX=3
#include <climits>

#include "common/common.cuh"

__global__ void maximum_of_block(const int* x, std::size_t n, int* maxima) {
  extern __shared__ int largest[];  // one slot per thread
  // TODO: fill the slots, fold the upper half onto the lower half, leave the result.
  (void)x, (void)n, (void)maxima, (void)largest;  // not used yet
  // end of TODO
}

// Launches enough blocks for n elements, at least one.
void launch_maximum_of_block(const int* x, std::size_t n, int* maxima, unsigned block) {
  const auto blocks = static_cast<unsigned>(n == 0 ? 1 : div_up(n, block));
  // TODO: how many bytes of shared memory does a block need?
  maximum_of_block<<<blocks, block, 0>>>(x, n, maxima);
  // end of TODO
  CUDA_CHECK_LAUNCH();
}
