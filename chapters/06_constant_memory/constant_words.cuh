// SPDX-License-Identifier: MIT
// The constant memory of chapter 06, and what all of its programs use.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../../common/common.cuh"

constexpr std::size_t kWarp = 32;
constexpr std::size_t kWords = 16384;  // ints in the table: 64 KiB, all there is
constexpr int kCoefficients = 32;      // of a polynomial of degree 31
constexpr int kLimit = 999999;         // of a value; 1024 of them can be added in an int

// The __constant__ variables of a file have 64 KiB between them, and the table takes them all.
// So the coefficients use the same bytes, at another time: whoever needs them copies first.
union ConstantWords {
  int table[kWords];
  float coefficients[kCoefficients];
};
__constant__ ConstantWords constant_words;

// What the twelve versions and the sweeps read and write, in device memory.
struct Problem {
  const int* x;      // n values
  const int* table;  // kWords values, the same as in constant memory
  int* y;            // n sums
  std::size_t n;
  unsigned grid, block;  // one thread per sum
};

__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

template <class T>
std::vector<T> download(const T* d_values, std::size_t n) {
  std::vector<T> values(n);
  CUDA_CHECK(cudaMemcpy(values.data(), d_values, n * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

// Compares every sum with what the host expects.
bool check(const std::string& what, const Problem& p, const std::vector<int>& expected) {
  return all_equal(what, download(p.y, p.n).data(), expected.data(), p.n);
}
