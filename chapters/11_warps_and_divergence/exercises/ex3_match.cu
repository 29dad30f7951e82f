// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 11, write the kernel: one atomic for all equal keys.
//
// bins[k] goes up by the number of elements with the key k. Keys are 0 or more; how many there are
// only the caller knows. Lanes with equal keys queue up at their bin; let them agree instead, by
// one warp operation: one lane of each key adds for all of them, so that a warp makes one atomic
// request in which no two lanes meet. Blocks are whole warps, one element a thread.
// Check it: make lab CH=11 EX=3      A hint: make hint CH=11 EX=3
#include "common/common.cuh"

constexpr unsigned kWarp = 32, kAllLanes = 0xffffffffu;

__global__ void count_keys(const int* keys, std::size_t n, unsigned* bins) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % kWarp;
  // TODO: which lanes have my key? Which of them adds, and how much?
  (void)lane;
  if (i < n) atomicAdd(&bins[keys[i]], 1u);
  // end of TODO
}
