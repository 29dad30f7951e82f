// SPDX-License-Identifier: MIT
// Random orders that are the same in every run with the same seed.
#pragma once

#include <cstdint>

namespace cuda_cpu {

inline std::uint64_t next_random(std::uint64_t* state) {  // splitmix64
  std::uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// A pseudo-random permutation of 0 .. count-1 without a table: a Feistel network on the next even
/// number of bits, applied until the result is in range.
inline std::uint64_t permuted(std::uint64_t position, std::uint64_t count, std::uint64_t seed) {
  unsigned half = 1;
  while ((std::uint64_t{1} << (2 * half)) < count) ++half;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  std::uint64_t value = position;
  do {
    std::uint64_t left = value >> half, right = value & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      std::uint64_t state = seed ^ (round << 56) ^ right;
      const std::uint64_t mixed = left ^ (next_random(&state) & mask);
      left = right;
      right = mixed;
    }
    value = (left << half) | right;
  } while (value >= count);
  return value;
}

}  // namespace cuda_cpu
