// SPDX-License-Identifier: MIT
// What a check draws anew in every run, so that a file cannot know what it will be tried on: one
// trial in each regime of sizes, blocks and parameters. The runs of one check, with several orders
// of threads, draw the same.
#pragma once

#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "testing.cuh"

namespace lab {

/// The seed of this run: what outcome.py says in LAB_SEED, or else any number.
inline std::uint64_t run_seed() {
  static const std::uint64_t seed = [] {
    const char* const given = std::getenv("LAB_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  }();
  return seed;
}

/// A number from least to most. Each range has draws of its own: one order of threads may try more
/// than another, and what both try shall be the same.
inline unsigned drawn(unsigned least, unsigned most) {
  static std::map<std::pair<unsigned, unsigned>, std::uint64_t> counts;
  const std::uint64_t range = std::uint64_t{least} << 32 | most;
  const std::uint64_t bits = random_bits(run_seed() ^ range, counts[{least, most}]++);
  return least + static_cast<unsigned>(bits % (most - least + 1ull));
}

/// The values in any order.
template <class T>
std::vector<T> shuffled(std::vector<T> values) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[drawn(0, static_cast<unsigned>(i) - 1)]);
  }
  return values;
}

/// Whether this run tries sizes past 2^16, at which an index of 8 or 16 bits is too narrow. One
/// order of threads is enough for them, and whatever makes a kernel slow leaves them out.
inline bool tries_large_sizes() {
  const char* const order = std::getenv("CUDA_CPU_SCHEDULE");
  return !small_sizes() && !races_are_looked_for() &&
         (order == nullptr || std::string(order) == "forward");
}

}  // namespace lab
