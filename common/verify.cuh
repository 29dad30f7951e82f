// SPDX-License-Identifier: MIT
// Comparing results with the host reference: every element, in a form that NaN cannot pass.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <type_traits>

/// True when |actual - expected| <= tolerance. A NaN on either side makes it false: the comparison
/// is written so that only a true "close enough" passes.
inline bool is_close(double actual, double expected, double tolerance) {
  return std::abs(actual - expected) <= tolerance;
}

/// A value as a message shows it: integers in full, floats with six digits.
template <class T>
std::string value_text(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", static_cast<double>(value));
    return text;
  } else {
    return std::to_string(value);
  }
}

/// Says on stderr what was wrong, and returns false. `where` is "" or " at [7]".
template <class T, class U>
bool report_wrong(const std::string& name, const std::string& where, const T& actual,
                  const U& expected) {
  std::fprintf(stderr, "%s: wrong%s: expected %s, got %s\n", name.c_str(), where.c_str(),
               value_text(expected).c_str(), value_text(actual).c_str());
  return false;
}

/// Compares `n` elements, `actual[i]` with `expected[i]`, each with its own `tolerance(i)`. Names
/// the first wrong one on stderr, with `name` before it, and returns whether all were right.
template <class T, class U, class Tolerance>
bool all_close(const std::string& name, const T* actual, const U* expected, std::size_t n,
               Tolerance tolerance) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_close(static_cast<double>(actual[i]), static_cast<double>(expected[i]), tolerance(i))) {
      return report_wrong(name, " at [" + std::to_string(i) + "]", actual[i], expected[i]);
    }
  }
  return true;
}

/// Compares `n` elements exactly. Names the first wrong one on stderr, with `name` before it.
template <class T>
bool all_equal(const std::string& name, const T* actual, const T* expected, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!(actual[i] == expected[i])) {
      return report_wrong(name, " at [" + std::to_string(i) + "]", actual[i], expected[i]);
    }
  }
  return true;
}

/// Compares one value exactly.
template <class T>
bool equals(const std::string& name, const T& actual, const T& expected) {
  return actual == expected || report_wrong(name, "", actual, expected);
}
