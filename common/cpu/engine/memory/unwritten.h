// SPDX-License-Identifier: MIT
// Which words of the device's memory nobody has written since they were allocated: a bit for
// each 4 bytes, kept while somebody who sees all writes asks for it (keep_unwritten_memory).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cuda_cpu {

/// The bits, of the reserve that device memory comes from. No bytes: they are not kept.
struct UnwrittenWords {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  std::uint64_t* bits = nullptr;

  bool has(std::uintptr_t address) const {
    const std::uintptr_t word = (address - base) / 4;
    return address - base < bytes && (bits[word / 64] >> word % 64 & 1) != 0;
  }
  /// The words from `first` to just before `end`. What need not change is left alone: the system
  /// has given no room to most of the bits.
  void set(std::uintptr_t first, std::uintptr_t end, bool unwritten) {
    while (first < end) {
      const std::uintptr_t here = std::min<std::uintptr_t>(64 - first % 64, end - first);
      const std::uint64_t mask = ~std::uint64_t{0} >> (64 - here) << first % 64;
      std::uint64_t& some = bits[first / 64];
      if ((some & mask) != (unwritten ? mask : 0)) some = unwritten ? some | mask : some & ~mask;
      first += here;
    }
  }
};
// Asked at every access.
inline UnwrittenWords unwritten_words;

/// Whether nobody has written any word of this memory, or (not `whole`) some word of it. False
/// where nobody knows.
inline bool is_unwritten(const void* memory, std::size_t bytes, bool whole) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  for (std::uintptr_t at = begin; at < begin + bytes; at += 4 - at % 4) {
    if (unwritten_words.has(at) != whole) return !whole;
  }
  return whole && bytes != 0;
}

/// What is allocated is unwritten, in whole words; what is written, in all that it touches, is not.
inline void set_unwritten(const void* memory, std::size_t bytes, bool unwritten) {
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(memory) - unwritten_words.base;
  const std::uintptr_t up = unwritten ? 3 : 0;
  if (at < unwritten_words.bytes) {
    unwritten_words.set((at + up) / 4, (at + bytes + 3 - up) / 4, unwritten);
  }
}

/// Words are as those of the source; or, if they lie otherwise there, written.
inline void mark_copied(const void* to, const void* from, std::size_t bytes) {
  set_unwritten(to, bytes, false);
  const auto begin = reinterpret_cast<std::uintptr_t>(to);
  const auto source = reinterpret_cast<std::uintptr_t>(from);
  if (source - unwritten_words.base >= unwritten_words.bytes || (source - begin) % 4 != 0) return;
  for (std::size_t at = -begin % 4; at + 4 <= bytes; at += 4) {
    if (unwritten_words.has(source + at)) set_unwritten(static_cast<const char*>(to) + at, 4, true);
  }
}

}  // namespace cuda_cpu
