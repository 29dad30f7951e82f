// SPDX-License-Identifier: MIT
// Comparing results with the host reference: every element, in a form that NaN cannot pass.
#pragma once

#include <cmath>
#include <cstddef>
#include <iostream>
#include <string>

/// True when |actual - expected| <= tolerance. A NaN on either side makes it false: the comparison
/// is written so that only a true "close enough" passes.
inline bool is_close(double actual, double expected, double tolerance) {
  return std::abs(actual - expected) <= tolerance;
}

/// Compares `n` elements, `actual[i]` with `expected[i]`, each with its own `tolerance(i)`. Names
/// the first wrong one on stderr, with `what` before it, and returns whether all were right.
template <class T, class U, class Tolerance>
bool all_close(const std::string& what, const T* actual, const U* expected, std::size_t n,
               Tolerance tolerance) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_close(static_cast<double>(actual[i]), static_cast<double>(expected[i]), tolerance(i))) {
      std::cerr << what << ": wrong at [" << i << "]: expected " << expected[i] << ", got "
                << actual[i] << '\n';
      return false;
    }
  }
  return true;
}

/// Compares `n` elements exactly. Names the first wrong one on stderr, with `what` before it.
template <class T>
bool all_equal(const std::string& what, const T* actual, const T* expected, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!(actual[i] == expected[i])) {
      std::cerr << what << ": wrong at [" << i << "]: expected " << expected[i] << ", got "
                << actual[i] << '\n';
      return false;
    }
  }
  return true;
}

/// Compares one value exactly.
template <class T>
bool equals(const std::string& what, const T& actual, const T& expected) {
  if (actual == expected) return true;
  std::cerr << what << ": wrong: expected " << expected << ", got " << actual << '\n';
  return false;
}
