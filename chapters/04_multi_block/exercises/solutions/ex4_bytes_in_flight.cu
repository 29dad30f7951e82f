// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 04, predict, then measure: threads, loads, bytes in flight.
//
// Put your predictions in place of the -1; change nothing else. The check asks the runtime, counts
// and computes. It says too low or too high, never the number.
// Check it: make lab CH=04 EX=4      A hint: make hint CH=04 EX=4
#include "common/common.cuh"

// An SM holds 2048 threads in 64 warps, and 32 blocks, but only whole blocks; nothing else runs
// out here. How many threads does it hold at once,
constexpr int kThreadsInBlocksOf96 = 2016;   // in blocks of 96 threads
constexpr int kThreadsInBlocksOf768 = 1536;  // in blocks of 768 threads
constexpr int kThreadsInBlocksOf32 = 1024;   // in blocks of 32 threads

// The kernels below with n = 10007, 7 blocks of 96 threads. A request is one load instruction of
// one warp in which at least one lane takes part. How many requests for x do all warps make?
constexpr int kRequestsOneInFlight = 313;   // sum_one_in_flight
constexpr int kRequestsFourInFlight = 313;  // sum_four_in_flight

// 132 SMs, each full of blocks of 32 threads. A load from memory takes 350 ns, the memory delivers
// 4600 GB/s (4600 bytes per ns). Each thread has k loads of 4 bytes in flight at once.
constexpr int kLoadsToFillTheMemory = 3;  // the smallest k that is enough by Little's law

__device__ std::size_t first() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t stride() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

__global__ void sum_one_in_flight(const int* x, std::size_t n, long long* partial) {
  long long sum = 0;
  for (std::size_t i = first(); i < n; i += stride()) sum += x[i];
  partial[first()] = sum;
}

__global__ void sum_four_in_flight(const int* x, std::size_t n, long long* partial) {
  long long sum = 0;
  std::size_t i = first();
  for (; i + 3 * stride() < n; i += 4 * stride()) {
    const int a = x[i], b = x[i + stride()];  // all four leave before the first is needed
    const int c = x[i + 2 * stride()], d = x[i + 3 * stride()];
    sum += static_cast<long long>(a) + b + c + d;
  }
  for (; i < n; i += stride()) sum += x[i];
  partial[first()] = sum;
}
