// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 12, write the kernel: a window in registers.
//
// In row k of y stands the largest of x in rows k - window + 1 to k of the same column (fewer at
// the top); window is 1 to 8. A thread goes down a column and remembers `window` values, in an
// array whose index is known only at run time, so that it lies in local memory. Do it without a
// single request to local memory, and load each value once.
// Check it: make lab CH=12 EX=3      A hint: make hint CH=12 EX=3
#include <climits>

#include "common/common.cuh"

constexpr int kMost = 8;

__global__ void largest_of_window(const int* x, std::size_t columns, int rows, int window, int* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= columns) return;
  int ago[kMost];  // ago[w]: the value of w rows ago. Unrolled, every index is a constant.
#pragma unroll
  for (int w = 0; w < kMost; ++w) ago[w] = INT_MIN;
  for (int k = 0; k < rows; ++k) {
#pragma unroll
    for (int w = kMost - 1; w > 0; --w) ago[w] = ago[w - 1];  // from register to register
    ago[0] = x[k * columns + i];
    int largest = ago[0];
#pragma unroll
    for (int w = 1; w < kMost; ++w) {
      if (w < window) largest = max(largest, ago[w]);
    }
    y[k * columns + i] = largest;
  }
}
