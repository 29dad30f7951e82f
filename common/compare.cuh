// SPDX-License-Identifier: MIT
// Seeded test data, and comparing with the reference: every element, so that NaN cannot pass.
#pragma once

#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

/// Scrambles a counter into 64 random-looking bits (SplitMix64: Steele, Lea, Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014).
__host__ __device__ inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The int with number `i`, uniform in low..high. Kernels can ask, too.
__host__ __device__ inline int random_int(int low, int high, std::uint64_t seed, std::uint64_t i) {
  const auto span = static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - low + 1);
  const std::uint64_t upper = random_bits(seed, i) >> 32;  // span <= 2^32: the product fits
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

/// True when |actual - expected| <= tolerance; false when a NaN is on either side.
inline bool is_close(double actual, double expected, double tolerance) {
  return std::abs(actual - expected) <= tolerance;
}

/// Says on stderr what was wrong, and returns false. A byte is written as a number, which `+` makes
/// of it.
template <class T, class U>
bool report_wrong(const std::string& name, const std::string& where, const T& actual,
                  const U& expected) {
  std::cerr << name << ": wrong" << where << ": expected " << +expected << ", got " << +actual
            << "\n";
  return false;
}

/// Whether all elements are there, and `is_right(i)` for each. Names the first wrong one on stderr.
template <class T, class U, class IsRight>
bool all_right(const std::string& name, const std::vector<T>& actual,
               const std::vector<U>& expected, IsRight is_right) {
  if (actual.size() != expected.size())
    return report_wrong(name, ", how many", actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (!is_right(i))
      return report_wrong(name, " at [" + std::to_string(i) + "]", actual[i], expected[i]);
  return true;
}

/// Compares all elements, each within its own `tolerance(i)`.
template <class T, class U, class Tolerance>
bool all_close(const std::string& name, const std::vector<T>& actual,
               const std::vector<U>& expected, Tolerance tolerance) {
  return all_right(name, actual, expected,
                   [&](std::size_t i) { return is_close(actual[i], expected[i], tolerance(i)); });
}

template <class T>
bool all_equal(const std::string& name, const std::vector<T>& actual,
               const std::vector<T>& expected) {
  return all_right(name, actual, expected, [&](std::size_t i) { return actual[i] == expected[i]; });
}

template <class T>
bool equals(const std::string& name, const T& actual, const T& expected) {
  return actual == expected || report_wrong(name, "", actual, expected);
}
