// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 05, predict, then measure: what two trees ask of the banks.
//
// Both kernels do one level of a tree over 512 ints in shared memory with a block of 256 threads.
// Put your predictions in place of the -1; change nothing else. The check runs the kernels and
// counts. It says too low or too high, never the number.
// Check it: make lab CH=05 EX=4      A hint: make hint CH=05 EX=4
#include "common/common.cuh"

constexpr unsigned kSlots = 512, kThreads = 256;

// Shared memory has 32 banks of 4 bytes. In one pass, a wavefront, each bank delivers one word;
// different words of one bank take one wavefront each. How many wavefronts does one request take,
// the load of one int by each active lane of a warp? (1: no two lanes conflict.)
constexpr int kInterleavedAt1 = -1;   // TODO: interleaved, distance 1
constexpr int kInterleavedAt8 = -1;   // TODO: interleaved, distance 8
constexpr int kSequentialAt256 = -1;  // TODO: sequential, distance 256
// How many warps have a lane that adds?
constexpr int kWarpsInterleavedAt2 = -1;  // TODO: interleaved, distance 2
constexpr int kWarpsSequentialAt64 = -1;  // TODO: sequential, distance 64

__device__ void fill(int* slots) {
  for (unsigned k = threadIdx.x; k < kSlots; k += kThreads) slots[k] = static_cast<int>(k);
  __syncthreads();
}

// Thread t adds slots 2 * distance * t and 2 * distance * t + distance.
__global__ void level_interleaved(unsigned distance, int* sums) {
  __shared__ int slots[kSlots];
  fill(slots);
  const unsigned left = 2 * distance * threadIdx.x;
  if (left + distance < kSlots) sums[threadIdx.x] = slots[left] + slots[left + distance];
}

// Thread t adds slots t and t + distance, as long as t is below the distance.
__global__ void level_sequential(unsigned distance, int* sums) {
  __shared__ int slots[kSlots];
  fill(slots);
  const unsigned t = threadIdx.x;
  if (t < distance) sums[t] = slots[t] + slots[t + distance];
}
