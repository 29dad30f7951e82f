// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 11, fix the bug: the mask names lanes that never come.
//
// Each warp leaves the sum of its elements in sums[warp], by the registers of its lanes alone; a
// warp without elements leaves 0. Blocks are whole warps, n is any number. Two things are wrong:
// one shows in a report, the other only in the sums.
// Check it: make lab CH=11 EX=1      A hint: make hint CH=11 EX=1
#include "common/common.cuh"

constexpr unsigned kWarp = 32, kAllLanes = 0xffffffffu;

__global__ void sum_of_warp(const int* x, std::size_t n, long long* sums) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % kWarp;
  // TODO: mend what stands between here and the end mark.
  if (i < n) {
    long long sum = x[i];
    for (unsigned distance = kWarp / 4; distance > 0; distance /= 2) {
      sum += __shfl_down_sync(kAllLanes, sum, distance);  // from the lane that far above
    }
    if (lane == 0) sums[i / kWarp] = sum;
  }
  // end of TODO
}
