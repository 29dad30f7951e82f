// SPDX-License-Identifier: MIT
// Pages of memory, and sizes rounded to them.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace cuda_cpu {

inline std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Fills memory that nobody has written: as a float it is NaN.
constexpr unsigned char kPoison = 0xff;

inline bool is_all_poison(const char* begin, const char* end) {
  return std::all_of(begin, end, [](char c) { return static_cast<unsigned char>(c) == kPoison; });
}

}  // namespace cuda_cpu
