// SPDX-License-Identifier: MIT
// What can a warp ask its lanes?
//
// votes        any, all and ballot of every 32 ints
// equal_lanes  how many of the 32 hold the same value, by match_any

#include "../../../common/common.cuh"
#include "segments.cuh"

constexpr int kLow = 3;  // the votes ask for ints that are so near to the least or the largest

// Every lane stays to the end of the segment: a vote needs all 32. `inside` says who has an
// element. Each row of 32 ints gets three places in `votes`.
__global__ void take_votes(const int* x, std::size_t n, unsigned* votes) {
  const Range r(n);
  for (std::size_t row = r.first; row < r.last; row += kWarp) {
    const bool inside = row + lane_number() < r.last;
    const int value = inside ? x[row + lane_number()] : 0;
    const int any = __any_sync(kAllLanes, inside && value < kLow);
    const int all = __all_sync(kAllLanes, !inside || value < kValues - kLow);
    const unsigned odd = __ballot_sync(kAllLanes, inside && value % 2 != 0);
    if (lane_number() < 3) {
      const unsigned vote = lane_number() == 0 ? any != 0 : lane_number() == 1 ? all != 0 : odd;
      votes[row / kWarp * 3 + lane_number()] = vote;
    }
  }
}

// match_any tells each lane which lanes hold the same value as it does.
__global__ void count_equal_lanes(const int* x, std::size_t n, int* counts) {
  const Range r(n);
  for (std::size_t row = r.first; row < r.last; row += kWarp) {
    const bool inside = row + lane_number() < r.last;
    const int value = inside ? x[row + lane_number()] / 100 : -1;
    const unsigned same = __match_any_sync(kAllLanes, value);
    if (inside) counts[row + lane_number()] = __popc(same);
  }
}

// Three votes for every 32 of the ints, and a count for each.
struct Segments : SegmentedInts {
  void poison() const { votes.poison(), counts.poison(); }

  bool votes_are_right(const std::string& version) const {
    std::vector<unsigned> expected(votes.size());
    for (std::size_t i = 0; i < n; ++i) {
      unsigned* const vote = &expected[i / kWarp * 3];
      vote[0] |= host_x[i] < kLow;
      vote[1] = (i % kWarp == 0 || vote[1] != 0) && host_x[i] < kValues - kLow;
      vote[2] |= (host_x[i] % 2 != 0 ? 1u : 0u) << (i % kWarp);
    }
    return all_equal(version, votes.download(), expected);
  }
  bool counts_are_right(const std::string& version) const {
    std::vector<int> expected(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t first = i / kWarp * kWarp, last = std::min(first + kWarp, n);
      for (std::size_t k = first; k < last; ++k) expected[i] += host_x[k] / 100 == host_x[i] / 100;
    }
    return all_equal(version, counts.download(), expected);
  }

  DeviceArray<unsigned> votes{div_up(n, kWarp) * 3};
  DeviceArray<int> counts{n};
};

const Version<Segments> kVersions[] = {
    {"votes", "any, all and ballot of every 32 ints",
     [](const Segments& s) { take_votes<<<s.grid, s.block>>>(s.x, s.n, s.votes); },
     &Segments::votes_are_right},
    {"equal_lanes", "how many of the 32 hold the same hundred, by match_any",
     [](const Segments& s) { count_equal_lanes<<<s.grid, s.block>>>(s.x, s.n, s.counts); },
     &Segments::counts_are_right},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000;
  const Options opt(argc, argv, "11_warp_votes", "what can a warp ask its lanes?",
                    {{"n", &n, 1, 8_Gi, "ints"}});
  ResultTable table(opt, n * sizeof(int), 2 * n * sizeof(int));
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const Segments segments{{random_ints(n, 0, kValues - 1, opt.seed), 256}};
  for (const auto& version : kVersions) table.add(version, segments);
  return table.finish();
}
