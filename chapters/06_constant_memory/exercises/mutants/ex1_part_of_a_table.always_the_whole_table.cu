// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 06, fix the bug: the host replaces a part of a table in constant memory.
//
// upload_part() replaces table[first] ... table[first + count - 1] and leaves all other words as
// they are; download_part() reads as many back. Both compile, run without an error, and are wrong.
// Check it: make lab CH=06 EX=1      A hint: make hint CH=06 EX=1
#include "common/common.cuh"

constexpr std::size_t kWords = 1000;
__constant__ int table[kWords];

// What kernels see: words[i] = table[i].
__global__ void read_table(int* words) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < kWords) words[i] = table[i];
}

void upload_part(const int* values, std::size_t first, std::size_t count) {
  (void)count;
  CUDA_CHECK(
      cudaMemcpyToSymbol(table, values, sizeof(table) - first * sizeof(int), first * sizeof(int)));
}

void download_part(int* values, std::size_t first, std::size_t count) {
  CUDA_CHECK(cudaMemcpyFromSymbol(values, table, count * sizeof(int), first * sizeof(int)));
}
