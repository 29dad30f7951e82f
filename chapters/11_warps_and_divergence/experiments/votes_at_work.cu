// SPDX-License-Identifier: MIT
// What are votes and shuffles good for?
//
// search_all   where a value first stands, all of the segment read
// search_exit  the same, ended by a vote as soon as one lane has found it
// compact      the odd values side by side, in their order, by ballot
// scan         sums of all values up to each, by shuffles

#include "../../../common/common.cuh"
#include "segments.cuh"

constexpr int kWanted = 777;  // one of the values that the ints have

// Where kWanted first stands in the segment, counted from its beginning; kSegment: nowhere.
template <bool kExit>
__device__ void search(const int* x, std::size_t n, int* found) {
  const Range r(n);
  unsigned place = kSegment;
  for (std::size_t row = r.first; row < r.last; row += kWarp) {
    const bool hit = row + lane_number() < r.last && x[row + lane_number()] == kWanted;
    if (hit) place = min(place, static_cast<unsigned>(row - r.first) + lane_number());
    if (kExit && __any_sync(kAllLanes, hit)) break;  // all lanes leave together
  }
  for (int bit = kWarp / 2; bit > 0; bit /= 2) {
    place = min(place, __shfl_xor_sync(kAllLanes, place, bit));
  }
  if (lane_number() == 0 && r.first < r.last) found[warp_number()] = static_cast<int>(place);
}
__global__ void search_all(const int* x, std::size_t n, int* found) { search<false>(x, n, found); }
__global__ void search_exit(const int* x, std::size_t n, int* found) { search<true>(x, n, found); }

// A lane's place is the number of votes below its own.
__global__ void compact_odd(const int* x, std::size_t n, int* kept, int* counts) {
  const Range r(n);
  std::size_t next = r.first;
  for (std::size_t row = r.first; row < r.last; row += kWarp) {
    const bool inside = row + lane_number() < r.last;
    const int value = inside ? x[row + lane_number()] : 0;
    const unsigned odd = __ballot_sync(kAllLanes, value % 2 != 0);
    const unsigned below_me = odd & ((1u << lane_number()) - 1);
    if (value % 2 != 0) kept[next + static_cast<unsigned>(__popc(below_me))] = value;
    next += static_cast<unsigned>(__popc(odd));  // the same in all lanes
  }
  if (lane_number() == 0 && r.first < r.last) {
    counts[warp_number()] = static_cast<int>(next - r.first);
  }
}

// The sum of the values of this lane and of all lanes below it: after the first step of two lanes,
// then of four, eight, ... A lane that has nobody so far below gets its own value: not to be added.
__device__ int scan_of_warp(int value) {
  for (unsigned distance = 1; distance < kWarp; distance *= 2) {
    const int below = __shfl_up_sync(kAllLanes, value, distance);
    if (lane_number() >= distance) value += below;
  }
  return value;
}

__global__ void scan_segments(const int* x, std::size_t n, int* sums) {
  const Range r(n);
  int before = 0;  // the sum of all rows so far
  for (std::size_t row = r.first; row < r.last; row += kWarp) {
    const bool inside = row + lane_number() < r.last;
    const int sum = before + scan_of_warp(inside ? x[row + lane_number()] : 0);
    if (inside) sums[row + lane_number()] = sum;
    before = __shfl_sync(kAllLanes, sum, kWarp - 1);
  }
}

// A place for each of the ints, and one for each warp.
struct Segments : SegmentedInts {
  void poison() const { of_ints.poison(), of_warps.poison(); }

  bool is_right(const std::string& name, const std::vector<int>& ints,
                const std::vector<int>& warps) const {
    return all_equal(name, of_ints.download(), ints) && all_equal(name, of_warps.download(), warps);
  }
  // Places that a version leaves alone keep their poison: -1.
  bool search_is_right(const std::string& name) const {
    std::vector<int> found(of_warps.size(), kSegment);
    for (std::size_t i = n; i-- > 0;)
      if (host_x[i] == kWanted) found[i / kSegment] = static_cast<int>(i % kSegment);
    return is_right(name, std::vector<int>(n, -1), found);
  }
  bool compact_is_right(const std::string& name) const {
    std::vector<int> kept(n, -1), counts(of_warps.size(), 0);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t segment = i / kSegment;
      if (host_x[i] % 2 != 0) kept[segment * kSegment + counts[segment]++] = host_x[i];
    }
    return is_right(name, kept, counts);
  }
  bool scan_is_right(const std::string& name) const {
    std::vector<int> sums = host_x;
    for (std::size_t i = 0; i < n; ++i) sums[i] += i % kSegment == 0 ? 0 : sums[i - 1];
    return is_right(name, sums, std::vector<int>(of_warps.size(), -1));
  }

  DeviceArray<int> of_ints{n}, of_warps{div_up(n, kSegment)};
};

const Version<Segments> kVersions[] = {
    {"search_all", "where 777 first stands, all of the segment read",
     [](const Segments& s) { search_all<<<s.grid, s.block>>>(s.x, s.n, s.of_warps); },
     &Segments::search_is_right},
    {"search_exit", "the same, ended by a vote",
     [](const Segments& s) { search_exit<<<s.grid, s.block>>>(s.x, s.n, s.of_warps); },
     &Segments::search_is_right},
    {"compact", "the odd values side by side, in their order",
     [](const Segments& s) { compact_odd<<<s.grid, s.block>>>(s.x, s.n, s.of_ints, s.of_warps); },
     &Segments::compact_is_right},
    {"scan", "sums up to each value of the segment",
     [](const Segments& s) { scan_segments<<<s.grid, s.block>>>(s.x, s.n, s.of_ints); },
     &Segments::scan_is_right},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000;
  const Options opt(argc, argv, "11_votes_at_work", "what are votes and shuffles good for?",
                    {{"n", &n, 1, 8_Gi, "ints"}});
  ResultTable table(opt, n * sizeof(int), 2 * n * sizeof(int));
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const Segments segments{{random_ints(n, 0, kValues - 1, opt.seed), 256}};
  for (const auto& version : kVersions) table.add(version, segments);
  return table.finish();
}
