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
  const unsigned t = threadIdx.x;
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + t;
  largest[t] = i < n ? x[i] : INT_MIN;  // the identity of max, as 0 is of +
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) largest[t] = max(largest[t], largest[t + half]);
    __syncthreads();  // the next level reads maxima that other threads have just written
  }
  if (t == 0) maxima[blockIdx.x] = largest[0];
}

// Launches enough blocks for n elements, at least one.
void launch_maximum_of_block(const int* x, std::size_t n, int* maxima, unsigned block) {
  const auto blocks = static_cast<unsigned>(n == 0 ? 1 : div_up(n, block));
  maximum_of_block<<<blocks, block, block * sizeof(int)>>>(x, n, maxima);
  CUDA_CHECK_LAUNCH();
}
