// SPDX-License-Identifier: MIT
// Seeded test data: the same seed gives the same numbers on every machine and backend.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

/// Scrambles a counter into 64 random-looking bits (SplitMix64: Steele, Lea, Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014).
__host__ __device__ inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The int with number `index`, uniform in low..high (both included). Kernels can ask too: a large
/// array is filled on the device in no time, and the host still knows every element.
__host__ __device__ inline int random_int(int low, int high, std::uint64_t seed,
                                          std::uint64_t index) {
  const auto span = static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - low + 1);
  const std::uint64_t upper = random_bits(seed, index) >> 32;  // span <= 2^32: the product fits
  return static_cast<int>(low + static_cast<std::int64_t>((upper * span) >> 32));
}

/// `n` ints, uniform in low..high: random_int() with the numbers 0, 1, 2, ...
inline std::vector<int> random_ints(std::size_t n, int low, int high, std::uint64_t seed) {
  std::vector<int> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = random_int(low, high, seed, i);
  return values;
}

/// `n` floats, uniform in low..high.
inline std::vector<float> random_floats(std::size_t n, float low, float high, std::uint64_t seed) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double unit = static_cast<double>(random_bits(seed, i) >> 11) * 0x1p-53;
    values[i] = static_cast<float>(low + (static_cast<double>(high) - low) * unit);
  }
  return values;
}
