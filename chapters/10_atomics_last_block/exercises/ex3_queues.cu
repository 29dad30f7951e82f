// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 10, predict, then measure: how many atomics, and how many in one queue?
//
// Put your predictions in place of the -1; change nothing else. The check runs the kernels and
// counts. It says too low or too high, never the number. An atomic of a warp is one request,
// whatever the number of its lanes; lanes that meet at one address queue up there.
// Check it: make lab CH=10 EX=3      A hint: make hint CH=10 EX=3
#include "common/common.cuh"

constexpr unsigned kN = 1000, kGrid = 5, kBlock = 96;  // of the first two kernels: 480 threads

// How many requests do all warps of the grid make?
constexpr int kPerElement = -1;      // TODO: add_elements, to *sum
constexpr int kInSharedMemory = -1;  // TODO: add_shares, to total, the blocks taken together
constexpr int kPerBlock = -1;        // TODO: add_shares, to *sum

// One warp counts into 8 or 12 bins, by a single request.
constexpr int kBinsOfSquares = -1;      // TODO: count_squares: how many bins does it reach?
constexpr int kQueueOfSquares = -1;     // TODO: count_squares: how many lanes in the longest queue?
constexpr int kQueueOfRemainders = -1;  // TODO: count_remainders: the same

__global__ void add_elements(const int* x, int* sum) {
  for (unsigned i = blockIdx.x * kBlock + threadIdx.x; i < kN; i += kGrid * kBlock) {
    atomicAdd(sum, x[i]);
  }
}

// Every thread brings its share to its block, even if it is 0.
__global__ void add_shares(const int* x, int* sum) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  int share = 0;
  for (unsigned i = blockIdx.x * kBlock + threadIdx.x; i < kN; i += kGrid * kBlock) share += x[i];
  atomicAdd(&total, share);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, total);
}

__global__ void count_squares(int* bins) { atomicAdd(&bins[threadIdx.x * threadIdx.x % 8], 1); }

__global__ void count_remainders(int* bins) { atomicAdd(&bins[threadIdx.x % 12], 1); }
