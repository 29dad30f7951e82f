// SPDX-License-Identifier: MIT
// Chapter 05: what several experiments share with the program: a thread's element, the fold, and
// the sums of blocks.
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

// n ints, and a sum of squares for each of the blocks that share them.
struct SharedInts {
  SharedInts(const std::vector<int>& values, unsigned blocks, unsigned threads)
      : x(values), grid(blocks), block(threads), expected(grid) {
    for (std::size_t i = 0; i < n; ++i) expected[i / block % grid] += 1LL * values[i] * values[i];
  }

  void poison() const { sums.poison(); }
  bool is_right(const std::string& version) const {
    return all_equal(version, sums.download(), expected);
  }

  DeviceArray<int> x;
  std::size_t n = x.size();
  unsigned grid, block;
  DeviceArray<long long> sums{grid};
  std::vector<long long> expected;  // of each block
};

template <auto kKernel>
void launch(const SharedInts& d) {
  kKernel<<<d.grid, d.block>>>(d.x, d.n, d.sums);
}
