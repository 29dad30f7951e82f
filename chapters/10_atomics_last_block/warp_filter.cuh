// SPDX-License-Identifier: MIT
// A filter keeps some elements and closes the gaps. Where does the next one go? A counter knows,
// and every element that is kept takes a place from it by an atomic.
//
// filter_atomic       one atomic for each element that is kept
// filter_vote         one atomic for a warp: its lanes vote, and share out the places
// filter_block        one atomic for a block: its threads take places from a counter of its own
// filter_cub          the same by cub::DeviceSelect, which also keeps the order
// own_counter_atomic  filter_atomic, but each block counts for itself: no counter in common
// own_counter_vote    filter_vote, the same way
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "../../common/common.cuh"

#ifndef __CUDA_CPU__
#include <cub/device/device_select.cuh>
#endif

namespace warp_filter {

constexpr unsigned kWarp = 32, kAllLanes = 0xffffffffu;

// What is filtered, and where to. With own_counters each block has a counter and `room` places.
struct Filter {
  const int* x;  // n values
  std::size_t n;
  unsigned grid, block;       // block: whole warps
  int* kept;                  // room for n
  unsigned long long* count;  // of those kept
  unsigned own_counters = 0;  // 1: yes
  std::size_t room = 0;

  // Of the block that asks.
  __device__ unsigned long long* counter() const { return count + blockIdx.x * own_counters; }
  __device__ int* places() const { return kept + blockIdx.x * own_counters * room; }
};

__host__ __device__ inline bool is_kept(int v) { return v % 2 != 0; }

__device__ inline std::size_t first_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::size_t stride() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

__device__ inline void keep_by_atomic(const Filter& p) {
  for (std::size_t i = first_index(); i < p.n; i += stride()) {
    if (is_kept(p.x[i])) p.places()[atomicAdd(p.counter(), 1ull)] = p.x[i];
  }
}

__device__ inline void keep_by_vote(const Filter& p) {
  const unsigned lane = threadIdx.x % kWarp;
  // All lanes stay while the first has an element: a vote needs all 32.
  for (std::size_t i = first_index(); i - lane < p.n; i += stride()) {
    const bool keep = i < p.n && is_kept(p.x[i]);
    const unsigned votes = __ballot_sync(kAllLanes, keep);  // bit k: lane k keeps its element
    unsigned long long first = 0;
    if (lane == 0) first = atomicAdd(p.counter(), 1ull * __popc(votes));
    first = __shfl_sync(kAllLanes, first, 0);
    const unsigned before_me = votes & ((1u << lane) - 1);  // those of lower lanes
    if (keep) p.places()[first + static_cast<unsigned>(__popc(before_me))] = p.x[i];
  }
}

__global__ void filter_atomic(Filter p) { keep_by_atomic(p); }
__global__ void filter_vote(Filter p) { keep_by_vote(p); }
__global__ void own_counter_atomic(Filter p) { keep_by_atomic(p); }
__global__ void own_counter_vote(Filter p) { keep_by_vote(p); }

__global__ void filter_block(Filter p) {
  __shared__ unsigned kept_here;            // of the block's elements of this turn
  __shared__ unsigned long long our_first;  // place
  // All threads stay while the first has an element: the barriers need them.
  for (std::size_t i = first_index(); i - threadIdx.x < p.n; i += stride()) {
    if (threadIdx.x == 0) kept_here = 0;
    __syncthreads();  // nobody takes a place before it is 0
    const bool keep = i < p.n && is_kept(p.x[i]);
    const unsigned mine = keep ? atomicAdd(&kept_here, 1u) : 0;
    __syncthreads();  // thread 0 asks for as many places as all have taken
    if (threadIdx.x == 0) our_first = atomicAdd(p.counter(), 1ull * kept_here);
    __syncthreads();  // all learn where theirs begin
    if (keep) p.places()[our_first + mine] = p.x[i];
  }
}

// The count must be 0 at every launch. That is part of the price.
inline const Filter& cleared(const Filter& p) {
  CUDA_CHECK(cudaMemsetAsync(p.count, 0, (p.own_counters != 0 ? p.grid : 1) * sizeof *p.count));
  return p;
}

inline const Version<Filter> kVersions[] = {
    {"filter_atomic", "one atomic per element that is kept",
     [](const Filter& p) { filter_atomic<<<p.grid, p.block>>>(cleared(p)); }},
    {"filter_vote", "one atomic per warp, places by vote",
     [](const Filter& p) { filter_vote<<<p.grid, p.block>>>(cleared(p)); }},
    {"filter_block", "one atomic per block and turn, places by a shared counter",
     [](const Filter& p) { filter_block<<<p.grid, p.block>>>(cleared(p)); }},
};

// The first two again, for memory with a counter per block.
inline const Version<Filter> kOwnCounters[] = {
    {"own_counter_atomic", "filter_atomic, each block with a counter of its own",
     [](const Filter& p) { own_counter_atomic<<<p.grid, p.block>>>(cleared(p)); }},
    {"own_counter_vote", "filter_vote, each block with a counter of its own",
     [](const Filter& p) { own_counter_vote<<<p.grid, p.block>>>(cleared(p)); }},
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
  FilterMemory(const DeviceArray<int>& x, unsigned grid, unsigned block, bool own_counters = false)
      : room(own_counters ? div_up(x.size(), std::size_t{grid} * block) * block : x.size()),
        kept(own_counters ? room * grid : room),
        count(own_counters ? grid : 1) {
    filter = {x.get(), x.size(), grid, block, kept.get(), count.get(), own_counters, room};
  }

  std::size_t room;  // places per counter
  DeviceArray<int> kept;
  DeviceArray<unsigned long long> count;
  Filter filter;
};

inline bool check(const std::string& version, const FilterMemory& memory, const Tally& expected) {
  std::size_t expected_count = 0, count = 0;
  for (const auto& entry : expected) expected_count += entry.second;
  const std::vector<unsigned long long> counts = memory.count.download();
  for (const unsigned long long c : counts) count += c;
  if (!equals(version + ", how many", count, expected_count)) return false;
  const std::vector<int> kept = memory.kept.download();
  Tally tally;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    for (std::size_t k = 0; k < counts[c]; ++k) ++tally[kept[c * memory.room + k]];
  }
  bool ok = true;
  for (const auto& entry : expected) {
    const std::string how_often = version + ", how often " + std::to_string(entry.first);
    ok = equals(how_often, tally[entry.first], entry.second) && ok;
  }
  return ok;
}

#ifndef __CUDA_CPU__
struct IsKept {
  __host__ __device__ bool operator()(int v) const { return is_kept(v); }
};

// The library a user would pick instead. It takes its count as an int in CUDA 11.
inline cudaError_t cub_filter(void* scratch, std::size_t& scratch_bytes, const Filter& p) {
  return cub::DeviceSelect::If(scratch, scratch_bytes, p.x, p.kept, p.count, static_cast<int>(p.n),
                               IsKept{});
}
#endif

inline void add_cub_row(ResultTable& table, const FilterMemory& memory, const Tally& expected) {
#ifndef __CUDA_CPU__
  const char* const name = "filter_cub";
  if (memory.filter.n > 2147483647) return table.note("filter_cub: not for so many");
  std::size_t scratch_bytes = 0;
  CUDA_CHECK(cub_filter(nullptr, scratch_bytes, memory.filter));
  const DeviceArray<char> scratch(scratch_bytes);
  add_measured_row(
      table, name, 0, [&] { memory.kept.poison(); },
      [&] { CUDA_CHECK(cub_filter(scratch.get(), scratch_bytes, memory.filter)); },
      [&] { return check(name, memory, expected); });
#else
  (void)table, (void)memory, (void)expected;
#endif
}

// All versions on x, which lies at d_x too.
inline void add_rows(ResultTable& table, const std::vector<int>& x, const DeviceArray<int>& d_x,
                     unsigned grid, unsigned block) {
  const Tally expected = reference(x);
  const auto add = [&](const FilterMemory& memory, const auto& versions) {
    add_version_rows(
        table, versions, memory.filter, 0, [&] { memory.kept.poison(); },
        [&](const char* version) { return check(version, memory, expected); });
  };
  const FilterMemory together(d_x, grid, block);
  add(together, kVersions);
  add_cub_row(table, together, expected);
  add(FilterMemory(d_x, grid, block, true), kOwnCounters);
}

}  // namespace warp_filter
