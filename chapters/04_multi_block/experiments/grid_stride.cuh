// SPDX-License-Identifier: MIT
// Chapter 04: the two kernels of the program that the sweeps over grids and over blocks launch.
#pragma once

#include "../../../common/common.cuh"

constexpr unsigned kInFlight = 4;  // loads per thread of sum_four_in_flight

// This thread's number in the whole grid, and how many there are. Widened before multiplying: the
// product of two unsigned ints wraps at 2^32.
__device__ inline std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::size_t grid_threads() {
  return static_cast<std::size_t>(gridDim.x) * blockDim.x;
}

// One load in flight: a thread waits for each value before it asks for the next.
__global__ void sum_grid_stride(const int* x, std::size_t n, long long* partial) {
  long long sum = 0;
#pragma unroll 1
  for (std::size_t i = global_index(); i < n; i += grid_threads()) {
    sum += static_cast<long long>(x[i]) * x[i];
  }
  partial[global_index()] = sum;
}

// Four loads leave before the first value is used: one wait for four.
__global__ void sum_four_in_flight(const int* x, std::size_t n, long long* partial) {
  const std::size_t stride = grid_threads();
  std::size_t i = global_index();
  long long sum = 0;
#pragma unroll 1
  for (; i + (kInFlight - 1) * stride < n; i += kInFlight * stride) {
    int v[kInFlight];  // in registers: the two loops below are unrolled
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) v[k] = x[i + k * stride];
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) sum += static_cast<long long>(v[k]) * v[k];
  }
  for (; i < n; i += stride) sum += static_cast<long long>(x[i]) * x[i];  // fewer than four left
  partial[global_index()] = sum;
}

inline bool adds_up(const std::string& name, const std::vector<long long>& partial,
                    long long expected) {
  return equals(name, std::accumulate(partial.begin(), partial.end(), 0LL), expected);
}
