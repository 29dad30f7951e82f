// SPDX-License-Identifier: MIT
// Chapter 05: what several experiments share with the program: a thread's element and the fold.
#pragma once

#include "../../../common/common.cuh"

// The element this thread is responsible for.
__device__ inline std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// The square of x[i], or 0 (which changes no sum) for threads past the end of x. They must not
// return early: everyone is needed at the barriers below.
__device__ inline long long square_or_zero(const int* x, std::size_t n, std::size_t i) {
  return i < n ? static_cast<long long>(x[i]) * x[i] : 0;
}

// Folds partial[0..count) into partial[0], the upper half onto the lower half: lanes that work are
// neighbours and so are their slots. When the count is odd the middle slot waits for the next
// level. Every thread of the block must call it, with a barrier after the last write to partial.
__device__ inline void fold_to_front(long long* partial, unsigned count) {
  while (count > 1) {
    const unsigned half = (count + 1) / 2;
    for (unsigned k = threadIdx.x; k < count - half; k += blockDim.x) {
      partial[k] += partial[half + k];
    }
    __syncthreads();  // the next level reads sums that other threads have just written
    count = half;
  }
}
