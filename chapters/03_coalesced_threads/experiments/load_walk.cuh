// SPDX-License-Identifier: MIT
// The walk of loads that both experiments on loads measure: its kernel, its data and its check.
#pragma once

#include "warp_walks.cuh"

// Element i of x: a digit. The device fills x itself: even 64 GiB take only a moment, and no copy.
// The host stores nothing, yet it knows every element.
__host__ __device__ inline int element(std::uint64_t seed, std::size_t i) {
  return random_int(0, 9, seed, i);
}

__host__ __device__ constexpr long long square(int value) {
  return static_cast<long long>(value) * value;
}

// Which thread this is, counted through all blocks of the launch.
__device__ inline std::size_t this_thread() {
  const std::size_t before_my_block = std::size_t{blockIdx.x} * blockDim.x;
  return before_my_block + threadIdx.x;
}

// How many threads the launch has.
__device__ inline std::size_t all_threads() { return std::size_t{gridDim.x} * blockDim.x; }

// Any walk, by the whole grid. Eight loads are under way before the first value is used,
// so that they share a latency (chapter 04).
__global__ void sum_walk(const int* x, std::size_t n, std::size_t offset, std::size_t stride,
                         long long* partial) {
  constexpr int kInFlight = 8;
  const std::size_t threads = all_threads(), t = this_thread();
  long long sum = 0;
  for (std::size_t i = t; i < n; i += kInFlight * threads) {
    int value[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const std::size_t j = i + k * threads;
      value[k] = j < n ? x[offset + j * stride] : 0;
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) sum += square(value[k]);
  }
  partial[t] = sum;
}

__global__ void fill_with_digits(int* x, std::size_t count, std::uint64_t seed) {
  for (std::size_t i = this_thread(); i < count; i += all_threads()) {
    x[i] = element(seed, i);
  }
}

/// A walk of loads over x[i] = random_int(0, 9, seed, i): each thread leaves a sum of squares.
struct LoadWalk : Walk {
  std::size_t threads;
  std::uint64_t seed;
  DeviceArray<long long> partial{threads};

  void poison() const { partial.poison(); }
  bool is_right(const std::string& name) const {
    long long sum = 0, expected = 0;
    for (const long long s : partial.download()) sum += s;
    for (std::size_t i = 0; i < n; ++i) {
      const long long digit = random_int(0, 9, seed, first + i * stride);
      expected += digit * digit;
    }
    return equals(name, sum, expected);
  }
};
