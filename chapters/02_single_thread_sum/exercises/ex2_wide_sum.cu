// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 02, fix the bug: a sum that outgrows its type.
//
// One thread leaves the sum of the squares of n ints in *sum. A published program did it like this,
// and for the small values of its own test it is right. Make it right for all values between minus
// one million and one million.
// Check it: make lab CH=02 EX=2      A hint: make hint CH=02 EX=2
#include "common/common.cuh"

__global__ void sum_of_squares(const int* x, std::size_t n, long long* sum) {
  // TODO: mend what stands between here and the end mark.
  int result = 0;
  for (std::size_t i = 0; i < n; ++i) {
    result += x[i] * x[i];
  }
  *sum = result;
  // end of TODO
}
