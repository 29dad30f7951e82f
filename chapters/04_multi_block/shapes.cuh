// SPDX-License-Identifier: MIT
// Chapter 04, the shape of a launch: how many blocks, of how many threads.
#pragma once

#include <algorithm>
#include <cstddef>

#include "../../common/common.cuh"

struct Shape {
  unsigned grid, block, loads = 1;  // loads: per thread, on their way at once
  std::size_t threads() const { return static_cast<std::size_t>(grid) * block; }
  double bytes_in_flight() const { return static_cast<double>(threads() * loads * sizeof(int)); }
};

// What a shape is chosen for: the chip, and the threads per block where the version leaves them
// open (--block).
struct Setting {
  unsigned sm_count, block;
};

// A version of this chapter is a shape with a name.
struct ShapeVersion {
  const char* name;
  const char* summary;
  Shape (*shape)(Setting s);
};

template <unsigned kGrid, unsigned kBlock>
Shape fixed(Setting) {
  return {kGrid, kBlock};
}

inline Shape one_block_per_sm(Setting s) { return {s.sm_count, s.block}; }

// The most blocks of this kernel that the chip holds at once. An SM runs out of thread slots, block
// slots, registers or shared memory; the runtime knows which comes first.
template <auto kKernel, unsigned kLoads = 1>
Shape one_wave(Setting s) {
  int per_sm = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kKernel,
                                                           static_cast<int>(s.block), 0));
  return {s.sm_count * static_cast<unsigned>(std::max(1, per_sm)), s.block, kLoads};
}

// The block size with the highest occupancy, and the smallest grid that reaches it on every SM.
template <auto kKernel>
Shape api_choice(Setting) {
  int grid = 0, block = 0;
  CUDA_CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kKernel, 0, 0));
  return {static_cast<unsigned>(grid), static_cast<unsigned>(block)};
}
