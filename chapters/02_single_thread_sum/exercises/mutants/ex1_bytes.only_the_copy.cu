// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 02, fix the bug: a quarter of the data.
//
// sum_on_device copies the ints of x to the device, has one GPU thread add them up, and fetches the
// sum. Every call is checked, and yet the sum is wrong: three of the lines count wrongly, all three
// for the same reason.
// Check it: make lab CH=02 EX=1      A hint: make hint CH=02 EX=1
#include <vector>

#include "common/common.cuh"

__global__ void sum_single_thread(const int* x, std::size_t n, long long* sum) {
  long long result = 0;
  for (std::size_t i = 0; i < n; ++i) result += x[i];
  *sum = result;
}

long long sum_on_device(const std::vector<int>& x) {
  int* d_x = nullptr;
  long long* d_sum = nullptr;
  long long sum = 0;
  CUDA_CHECK(cudaMalloc(&d_x, x.size()));
  CUDA_CHECK(cudaMalloc(&d_sum, sizeof(long long)));
  CUDA_CHECK(cudaMemcpy(d_x, x.data(), x.size() * sizeof(int), cudaMemcpyHostToDevice));
  sum_single_thread<<<1, 1>>>(d_x, x.size(), d_sum);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(&sum, d_sum, sizeof(long long), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_sum));
  return sum;
}
