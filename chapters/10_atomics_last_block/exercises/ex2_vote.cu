// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 10, fix the bug: the lane that asks for all may not be there.
//
// Keeps the odd ones among n ints: they go to kept[0], kept[1], ..., in any order, and *count,
// which is 0 before, says how many. kept has room for exactly these. A warp takes all its places
// by one atomic; blocks are whole warps.
// Check it: make lab CH=10 EX=2      A hint: make hint CH=10 EX=2
#include "common/common.cuh"

constexpr unsigned kWarp = 32, kAllLanes = 0xffffffffu;

__global__ void keep_odd(const int* x, std::size_t n, int* kept, unsigned* count) {
  const unsigned lane = threadIdx.x % kWarp;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  // All lanes stay while the first has an element: a vote needs all 32.
  for (; i - lane < n; i += stride) {
    const int value = i < n ? x[i] : 0;
    const bool keep = value % 2 != 0;
    const auto votes = __ballot_sync(kAllLanes, keep);  // bit k: lane k keeps its value
    // TODO: mend what stands between here and the end mark.
    if (keep) {
      unsigned first = 0;
      if (lane == 0) first = atomicAdd(count, static_cast<unsigned>(__popc(votes)));
      first = __shfl_sync(votes, first, 0);  // all who keep a value learn what lane 0 got
      const unsigned before_me = votes & ((1u << lane) - 1);
      kept[first + static_cast<unsigned>(__popc(before_me))] = value;
    }
    // end of TODO
  }
}
