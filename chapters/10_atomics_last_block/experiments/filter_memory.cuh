// SPDX-License-Identifier: MIT
// Chapter 10: what the experiments that filter share beside their kernels.
#pragma once

#include <map>

#include "../../../common/common.cuh"

// What is filtered, and where to. With own_counters each block has a counter and `room` places.
struct Filter {
  const int* x;  // n values
  std::size_t n;
  unsigned grid, block;
  int* kept;                  // room for n
  unsigned long long* count;  // of those kept
  unsigned own_counters;      // 1: yes
  std::size_t room;

  // Of the block that asks.
  __device__ unsigned long long* counter() const { return count + blockIdx.x * own_counters; }
  __device__ int* places() const { return kept + blockIdx.x * own_counters * room; }
};

__host__ __device__ inline bool is_kept(int v) { return v % 2 != 0; }

// The memory of a filter, with a counter for all blocks or one for each.
struct FilterMemory {
  FilterMemory(const std::vector<int>& values, unsigned grid, unsigned block, bool own_counters)
      : x(values),
        room(own_counters ? div_up(x.size(), std::size_t{grid} * block) * block : x.size()),
        kept(own_counters ? room * grid : room),
        count(own_counters ? grid : 1),
        filter{x, x.size(), grid, block, kept, count, own_counters, room} {
    for (const int v : values)
      if (is_kept(v)) ++expected[v];
  }

  void poison() const { kept.poison(); }
  bool is_right(const std::string& version) const {
    const std::vector<unsigned long long> counts = count.download();
    const std::vector<int> values = kept.download();
    std::map<int, std::size_t> tally;
    for (std::size_t c = 0; c < counts.size(); ++c) {
      if (counts[c] > room) return report_wrong(version, ", a count", counts[c], room);
      for (std::size_t k = 0; k < counts[c]; ++k) ++tally[values[c * room + k]];
    }
    return tally == expected ||
           report_wrong(version, ", the values kept", tally.size(), expected.size());
  }

  DeviceArray<int> x;
  std::size_t room;  // places per counter
  DeviceArray<int> kept;
  DeviceArray<unsigned long long> count;
  DeviceArray<char> scratch{x.size() / 64 + 1_Mi};  // what CUB wants for itself, and more
  Filter filter;
  std::map<int, std::size_t> expected;  // how often each value is kept; the order is anybody's
};

// The counts must be 0 at every launch. That is part of the price.
template <auto kKernel>
void launch(const FilterMemory& m) {
  CUDA_CHECK(cudaMemsetAsync(m.count, 0, m.count.bytes()));
  kKernel<<<m.filter.grid, m.filter.block>>>(m.filter);
}
