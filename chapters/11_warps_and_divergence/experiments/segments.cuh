// SPDX-License-Identifier: MIT
// Chapter 11: what the experiments share whose warps go through a segment of ints each.
#pragma once

#include "../../../common/common.cuh"

constexpr unsigned kWarp = 32, kAllLanes = 0xffffffffu;
constexpr unsigned kSegment = 1024;  // ints that a warp goes through, 32 at a time
constexpr int kValues = 1000;        // the ints are 0 ... kValues - 1

__device__ inline unsigned lane_number() { return threadIdx.x % kWarp; }
__device__ inline std::size_t warp_number() {  // of the whole grid
  return (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kWarp;
}

// The warp's segment of n ints, as far as there is one: element `first` to `last`.
struct Range {
  std::size_t first, last;
  __device__ explicit Range(std::size_t n)
      : first(min(warp_number() * kSegment, n)), last(min(first + kSegment, n)) {}
};

// n ints; each warp has kSegment of its own.
struct SegmentedInts {
  SegmentedInts(const std::vector<int>& values, unsigned threads)
      : host_x(values), block(threads) {}

  std::vector<int> host_x;
  unsigned block;  // threads, whole warps
  DeviceArray<int> x{host_x};
  std::size_t n = x.size();
  unsigned grid = blocks_for(n, std::size_t{kSegment} * block / kWarp);
};
