// SPDX-License-Identifier: MIT
// A filter keeps some elements and closes the gaps: where does the next one go?
// A counter knows. Is it worth while that a warp asks it once, for all of its lanes?
//
// filter_atomic       one atomic for each element that is kept
// filter_vote         one atomic for a warp: its lanes vote, and share out the places
// own_counter_atomic  filter_atomic, but each block counts for itself: no counter in common
// own_counter_vote    filter_vote, the same way

#include "../../../common/common.cuh"
#include "filter_memory.cuh"
#include "grid_walk.cuh"

constexpr unsigned kWarp = 32, kAllLanes = 0xffffffffu;

__device__ void keep_by_atomic(const Filter& p) {
  for (std::size_t i = first_index(); i < p.n; i += stride()) {
    if (is_kept(p.x[i])) p.places()[atomicAdd(p.counter(), 1ull)] = p.x[i];
  }
}

__device__ void keep_by_vote(const Filter& p) {
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

const Version<FilterMemory> kVersions[] = {
    {"filter_atomic", "one atomic per element that is kept", launch<filter_atomic>},
    {"filter_vote", "one atomic per warp, places by vote", launch<filter_vote>},
};

// The first two again, for memory with a counter per block.
const Version<FilterMemory> kOwnCounters[] = {
    {"own_counter_atomic", "filter_atomic, each block with a counter of its own",
     launch<own_counter_atomic>},
    {"own_counter_vote", "filter_vote, each block with a counter of its own",
     launch<own_counter_vote>},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 256_Ki, block = 512;
  const Options opt(argc, argv, "10_warp_filter", "is it worth while that a warp asks once?",
                    {{"n", &n, 1, 2_Gi - 1, "ints to filter"},
                     {"block", &block, kWarp, 1024, "threads per block", kWarp}});
  ResultTable table(opt, n * sizeof(int), n * sizeof(int) + 16_Mi);
  const unsigned grid = std::min(blocks_for(n, 16 * block), blocks_held(filter_vote, block));
  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  for (const auto& version : kVersions) table.add(version, FilterMemory(x, grid, block, false));
  for (const auto& version : kOwnCounters) table.add(version, FilterMemory(x, grid, block, true));
  return table.finish();
}
