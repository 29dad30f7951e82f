// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 03, fix the bug: the elements that belong to nobody.
//
// Each thread of the grid leaves the sum of the squares of its chunk in partial[t], 0 when it has
// no element. Make that right for any n and any number of threads. No thread takes more elements
// than n / threads, rounded up.
// Check it: make lab CH=03 EX=1      A hint: make hint CH=03 EX=1
#include "common/common.cuh"

__global__ void sum_chunked(const int* x, std::size_t n, long long* partial) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t t = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t chunk = n / threads;
  const std::size_t begin = t * chunk;
  const std::size_t end = t + 1 < threads ? begin + chunk : n;
  long long sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += static_cast<long long>(x[i]) * x[i];
  partial[t] = sum;
}
