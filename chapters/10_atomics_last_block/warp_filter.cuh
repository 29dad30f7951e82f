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

// What a version reads and writes.
struct Problem {
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

__global__ void filter_atomic(Problem p) {
  for (std::size_t i = first_index(); i < p.n; i += stride()) {
    if (is_kept(p.x[i])) p.kept[atomicAdd(p.count, 1ull)] = p.x[i];
  }
}

__global__ void filter_vote(Problem p) {
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

inline const Version<Problem> kVersions[] = {
    {"filter_atomic", "one atomic per element that is kept",
     [](const Problem& p) { filter_atomic<<<p.grid, p.block>>>(p); }},
    {"filter_vote", "one atomic per warp, places by vote",
     [](const Problem& p) { filter_vote<<<p.grid, p.block>>>(p); }},
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

inline bool check(const std::string& version, const Problem& p, const Tally& expected) {
  std::size_t expected_count = 0;
  for (const auto& entry : expected) expected_count += entry.second;
  unsigned long long count = 0;
  CUDA_CHECK(cudaMemcpy(&count, p.count, sizeof count, cudaMemcpyDeviceToHost));
  if (!equals(version + ", how many", std::size_t{count}, expected_count)) return false;
  std::vector<int> kept(count);
  CUDA_CHECK(cudaMemcpy(kept.data(), p.kept, count * sizeof(int), cudaMemcpyDeviceToHost));
  Tally tally;
  for (const int v : kept) ++tally[v];
  bool ok = true;
  for (const auto& entry : expected) {
    const std::string what = version + ", how often " + std::to_string(entry.first);
    ok = equals(what, tally[entry.first], entry.second) && ok;
  }
  return ok;
}

// Both versions on x, which lies at d_x too.
inline void show(ResultTable& table, const Options& opt, const std::vector<int>& x, const int* d_x,
                 unsigned grid, unsigned block) {
  Problem p = {d_x, x.size(), grid, block, nullptr, nullptr};
  CUDA_CHECK(cudaMalloc(&p.kept, p.n * sizeof(int)));
  CUDA_CHECK(cudaMalloc(&p.count, sizeof *p.count));
  const Tally expected = reference(x);
  for (const auto& version : kVersions) {
    CUDA_CHECK(cudaMemset(p.kept, 0xff, p.n * sizeof(int)));  // poison
    const auto launch = [&] {
      CUDA_CHECK(cudaMemsetAsync(p.count, 0, sizeof *p.count));
      version.launch(p);
    };
    add_measured_row(table, opt, version.name, 0, launch,
                     [&] { return check(version.name, p, expected); });
  }
  CUDA_CHECK(cudaFree(p.kept));
  CUDA_CHECK(cudaFree(p.count));
}

}  // namespace warp_filter
