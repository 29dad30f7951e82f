// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 05, fix the bug: a shared array that is too small.
//
// Each block leaves the sum of its 64 elements in sums[blockIdx.x]. A kernel like this one was
// published in a tutorial; its launch asked for more shared memory, which hid the bug on a GPU.
// Check it: make lab CH=05 EX=1      A hint: make hint CH=05 EX=1
#include "common/common.cuh"

constexpr unsigned kThreads = 64;  // per block
constexpr unsigned kBlocks = 8;    // in the published program; here there are as many as n needs

__global__ void sum_of_block(const int* x, std::size_t n, long long* sums) {
  const unsigned t = threadIdx.x;
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + t;
  // TODO: one line is wrong between here and the end mark. Run the check and read what it says.
  __shared__ long long partial[kBlocks];
  partial[t] = i < n ? x[i] : 0;
  __syncthreads();
  if (t == 0) {
    long long sum = 0;
    for (unsigned k = 0; k < kThreads; ++k) sum += partial[k];
    sums[blockIdx.x] = sum;
  }
  // end of TODO
}
