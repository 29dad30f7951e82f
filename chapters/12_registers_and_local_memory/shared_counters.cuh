// SPDX-License-Identifier: MIT
// Chapter 12, the counters of a thread in shared memory: its banks stand side by side, and who gets
// which decides. Included by registers_and_local_memory.cu.
#pragma once

#include "../../common/common.cuh"

// Counts in shared memory: counter c of this thread is slots[c * step]. No other thread touches
// them, so that no barrier is needed.
__device__ void count_in_slots(Words words, unsigned* slots, unsigned step, uint4* counts) {
  for (unsigned c = 0; c < kCounters; ++c) slots[c * step] = 0;
  for (unsigned k = 0; k < kWords; ++k) {
    const std::size_t i = word_index(k);
    if (i >= words.n) break;
    const unsigned word = words.x[i];
    for (unsigned shift = 0; shift < 32; shift += 4) ++slots[(word >> shift & 15) * step];
  }
  unsigned count[kCounters];
#pragma unroll
  for (unsigned c = 0; c < kCounters; ++c) count[c] = slots[c * step];
  store_as_bytes(count, counts);
}

// Lane t has banks 16t ... 16t + 15 of 32: all even lanes share one half of the banks.
__global__ void count_shared_rows(Words words, uint4* counts) {
  extern __shared__ unsigned all_slots[];
  count_in_slots(words, all_slots + threadIdx.x * kCounters, 1, counts);
}

// Whatever the digit, lane t is in bank t, provided that the block is whole warps.
__global__ void count_shared_slots(Words words, uint4* counts) {
  extern __shared__ unsigned all_slots[];
  count_in_slots(words, all_slots + threadIdx.x, blockDim.x, counts);
}
