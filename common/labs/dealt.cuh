// SPDX-License-Identifier: MIT
// For checks of grid-stride loops: what it takes to load an array whose elements are dealt to all
// threads of a grid, one after the other.
#pragma once

#include <algorithm>
#include <cstddef>

#include "counts.cuh"

namespace lab {

/// What the first `counted` of `blocks` blocks load of the trial's n elements: each element once,
/// in a request for each round in which a warp has one. Loops that take several elements a turn
/// make up to three requests more for the rest. No warp loads more than the first.
struct DealtLoads {
  std::size_t elements = 0, requests = 0, of_warp = 0;

  DealtLoads(const Trial& at, std::size_t blocks, std::size_t counted) {
    const std::size_t threads = blocks * at.block;
    const unsigned lanes = std::min(at.block, 32u);
    for (std::size_t i = 0; i < at.n; ++i) {
      elements += i % threads < counted * at.block ? 1 : 0;
      of_warp += i % threads < lanes ? 1 : 0;
    }
    for (std::size_t b = 0; b < counted; ++b) {
      for (unsigned warp = 0; warp < at.block; warp += 32) {
        const std::size_t first = b * at.block + warp;
        if (first < at.n) requests += div_up(at.n - first, threads) + 3;
      }
    }
  }
};

/// The loads of 4 bytes: of the elements, and not of a wider sum, to which a learner may add in
/// place.
template <class Seen>
auto loads_of_ints(const Seen& seen) {
  auto loads = seen.loads();
  loads = {};
  for (const auto& access : seen.accesses) {
    const bool is_load =
        access.space == Seen::Space::kGlobal && access.operation == Seen::Operation::kLoad;
    if (is_load && access.bytes_per_lane == sizeof(int)) loads += access.counts;
  }
  return loads;
}

/// No thread loads more than so many ints, nor gets what others have loaded. Who adds in place, to
/// a sum of 8 bytes, stores it as often.
template <class Seen>
void expect_own_rounds(const Seen& seen, std::size_t ints) {
  const std::uint64_t stored = seen.bytes_stored_by_busiest_thread();
  at_most("bytes that one thread loads", seen.bytes_loaded_by_busiest_thread(),
          ints * sizeof(int) + (stored > 8 ? stored - 8 : 0), "those of its own share");
  expect_nothing_handed_over(seen);
}

}  // namespace lab
