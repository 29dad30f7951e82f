// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 12, write the kernel: four values in registers.
//
// In row k of y stands the largest of x in rows k - 3 to k of the same column (fewer at the top).
// A thread goes down a column and remembers four values. It keeps them in an array whose index is
// known only at run time, so that the array lies in local memory: 5 requests for each value. Do it
// without a single one, and load each value once.
// Check it: make lab CH=12 EX=3      A hint: make hint CH=12 EX=3
#include <climits>

#include "common/common.cuh"

__global__ void largest_of_four(const int* x, std::size_t columns, unsigned rows, int* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= columns) return;
  int one_ago = INT_MIN, two_ago = INT_MIN, three_ago = INT_MIN;
  for (unsigned k = 0; k < rows; ++k) {
    const int now = x[k * columns + i];
    y[k * columns + i] = max(max(now, one_ago), max(two_ago, three_ago));
    three_ago = two_ago;  // from register to register: what is named needs no index
    two_ago = one_ago;
    one_ago = now;
  }
}
