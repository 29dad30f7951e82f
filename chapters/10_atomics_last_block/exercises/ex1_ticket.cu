// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 10, fix the bug: a ticket that works once.
//
// One launch leaves the sum of n ints in *result, by the pattern of the last block. *ticket is 0
// before the first launch, and nobody but the kernel touches it. The first launch is right, the
// second leaves nothing. Make every launch right, whatever its grid is.
// Check it: make lab CH=10 EX=1      A hint: make hint CH=10 EX=1
#include "common/common.cuh"

// The sum over the block, in thread 0. The block is a power of two, at most 256.
__device__ long long block_sum(long long value) {
  __shared__ long long partial[256];
  partial[threadIdx.x] = value;
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();  // the next level reads what other threads have just written
  }
  return partial[0];
}

__global__ void sum_all(const int* x, std::size_t n, long long* partials, unsigned* ticket,
                        long long* result) {
  __shared__ bool last;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  long long sum = 0;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    sum += x[i];
  }
  sum = block_sum(sum);
  // TODO: one step is missing, or one call is the wrong one.
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = sum;
    __threadfence();  // a block that sees the ticket drawn sees the partial sum too
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    __threadfence();  // nothing below is read before the ticket was drawn
  }
  __syncthreads();  // all threads learn what thread 0 drew
  if (last) {
    sum = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) sum += partials[b];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *result = sum;
  }
  // end of TODO
}
