// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 12, predict, then measure: how many blocks fit, and what do slots cost?
//
// Put your predictions in place of the -1; change nothing else. The check says too low or too high,
// never the number. A multiprocessor of an H200 holds 2048 threads and 32 blocks at most. It has
// 64 Ki registers; a warp gets its share in units of 256. It has 228 KiB of shared memory; a block
// gets what it asks for and 1 KiB more, in units of 128 bytes.
// Check it: make lab CH=12 EX=2      A hint: make hint CH=12 EX=2
#include "common/common.cuh"

// How many blocks does a multiprocessor hold at a time?
constexpr int kThirtyTwo = 8;    // 256 threads, 32 registers each
constexpr int kThirtyThree = 6;  // 256 threads, 33 registers each
constexpr int kAllThereAre = 1;  // 256 threads, 255 registers each
constexpr int kSmall = 32;       // 32 threads, 32 registers each
constexpr int kShared = 4;       // 256 threads, 32 registers, 57344 bytes of shared memory
constexpr int kOneMore = 3;      // 256 threads, 32 registers, 57345 bytes of shared memory

// How many wavefronts does the load of slots[...] in the last line take, in a block of 32?
constexpr int kRowsSameValue = 16;  // read_row, all lanes want counter 5
constexpr int kRowsOwnValue = 2;    // read_row, lane t wants counter t % 16
constexpr int kSlotsOwnValue = 1;   // read_slot, lane t wants counter t % 16

constexpr unsigned kLanes = 32, kCounters = 16;

__device__ void fill(int* slots) {
  for (unsigned k = threadIdx.x; k < kLanes * kCounters; k += kLanes) slots[k] = 1;
  __syncthreads();
}

// The 16 counters of a thread side by side. `step` 0: all want counter `first`.
__global__ void read_row(unsigned first, unsigned step, int* out) {
  __shared__ int slots[kLanes * kCounters];
  fill(slots);
  const unsigned t = threadIdx.x, wanted = (first + step * t) % kCounters;
  out[t] = slots[t * kCounters + wanted];
}

// One counter of all 32 threads side by side.
__global__ void read_slot(unsigned first, unsigned step, int* out) {
  __shared__ int slots[kLanes * kCounters];
  fill(slots);
  const unsigned t = threadIdx.x, wanted = (first + step * t) % kCounters;
  out[t] = slots[wanted * kLanes + t];
}
