// SPDX-License-Identifier: MIT
// A filter keeps some elements and closes the gaps. Where does the next one go? A counter knows,
// and every element that is kept takes a place from it by an atomic.
//
// filter_atomic  one atomic for each element that is kept
// filter_vote    one atomic for a warp: its lanes vote, and share out the places among themselves
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "../../common/common.cuh"

namespace warp_filter {

constexpr unsigned kWarp = 32, kAllLanes = 0xffffffffu;

// What is filtered, and where to.
struct Filter {
  const int* x;  // n values
  std::size_t n;
  unsigned grid, block;       // block: whole warps
  int* kept;                  // room for n
  unsigned long long* count;  // of those kept
};

__host__ __device__ inline bool is_kept(int v) { return v % 2 != 0; }

__device__ inline std::size_t first_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::size_t stride() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

__global__ void filter_atomic(Filter p) {
  for (std::size_t i = first_index(); i < p.n; i += stride()) {
    if (is_kept(p.x[i])) p.kept[atomicAdd(p.count, 1ull)] = p.x[i];
  }
}

__global__ void filter_vote(Filter p) {
  const unsigned lane = threadIdx.x % kWarp;
  // All lanes stay while the first has an element: a vote needs all 32.
  for (std::size_t i = first_index(); i - lane < p.n; i += stride()) {
    const bool keep = i < p.n && is_kept(p.x[i]);
    const unsigned votes = __ballot_sync(kAllLanes, keep);  // bit k: lane k keeps its element
    unsigned long long first = 0;
    if (lane == 0) first = atomicAdd(p.count, static_cast<unsigned long long>(__popc(votes)));
    first = __shfl_sync(kAllLanes, first, 0);
    const unsigned before_me = votes & ((1u << lane) - 1);  // those of lower lanes
    if (keep) p.kept[first + static_cast<unsigned>(__popc(before_me))] = p.x[i];
  }
}

// The count must be 0 at every launch. That is part of the price.
inline const Filter& cleared(const Filter& p) {
  CUDA_CHECK(cudaMemsetAsync(p.count, 0, sizeof *p.count));
  return p;
}

inline const Version<Filter> kVersions[] = {
    {"filter_atomic", "one atomic per element that is kept",
     [](const Filter& p) { filter_atomic<<<p.grid, p.block>>>(cleared(p)); }},
    {"filter_vote", "one atomic per warp, places by vote",
     [](const Filter& p) { filter_vote<<<p.grid, p.block>>>(cleared(p)); }},
};

// How often each value was kept. In which order is up to the atomics.
using Tally = std::map<int, std::size_t>;

inline Tally reference(const std::vector<int>& x) {
  Tally tally;
  for (const int v : x) {
    if (is_kept(v)) ++tally[v];
  }
  return tally;
}

// The memory of a filter that takes its values from x.
struct FilterMemory {
  FilterMemory(const DeviceArray<int>& x, unsigned grid, unsigned block)
      : kept(x.size()), count(1), filter{x.get(), x.size(), grid, block, kept.get(), count.get()} {}

  DeviceArray<int> kept;
  DeviceArray<unsigned long long> count;
  Filter filter;
};

inline bool check(const std::string& version, const FilterMemory& memory, const Tally& expected) {
  std::size_t expected_count = 0;
  for (const auto& entry : expected) expected_count += entry.second;
  const std::size_t count = memory.count.download()[0];
  if (!equals(version + ", how many", count, expected_count)) return false;
  Tally tally;
  for (const int v : memory.kept.download(count)) ++tally[v];
  bool ok = true;
  for (const auto& entry : expected) {
    const std::string how_often = version + ", how often " + std::to_string(entry.first);
    ok = equals(how_often, tally[entry.first], entry.second) && ok;
  }
  return ok;
}

// Both versions on x, which lies at d_x too.
inline void add_rows(ResultTable& table, const std::vector<int>& x, const DeviceArray<int>& d_x,
                     unsigned grid, unsigned block) {
  const FilterMemory memory(d_x, grid, block);
  const Tally expected = reference(x);
  add_version_rows(
      table, kVersions, memory.filter, 0, [&] { memory.kept.poison(); },
      [&](const char* version) { return check(version, memory, expected); });
}

}  // namespace warp_filter
