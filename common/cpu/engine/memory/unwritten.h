// SPDX-License-Identifier: MIT
// Which words of the device's memory nobody has written since they were allocated: a bit for each,
// kept while somebody who sees all writes asks for it (the race detector).
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda_cpu {

/// The bits, of the reserve that device memory comes from. No bytes: they are not kept.
struct UnwrittenWords {
  static constexpr std::size_t kWord = 4;
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  std::uint64_t* bits = nullptr;

  bool has(std::uintptr_t address) const {
    const std::uintptr_t word = (address - base) / kWord;
    return address - base < bytes && (bits[word / 64] >> word % 64 & 1) != 0;
  }
};
// Asked at every access.
inline UnwrittenWords unwritten_words;

/// Whether nobody has written any word of this memory, or (not `whole`) some word of it. False
/// where nobody knows.
inline bool is_unwritten(const void* memory, std::size_t bytes, bool whole) {
  constexpr std::size_t kWord = UnwrittenWords::kWord;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  for (std::uintptr_t at = begin; at < begin + bytes; at += kWord - at % kWord) {
    if (unwritten_words.has(at) != whole) return !whole;
  }
  return whole && bytes != 0;
}

/// Begins to keep them for what is allocated from now on in this reserve; or ends it, with 0 bytes.
void keep_unwritten(std::uintptr_t base, std::size_t bytes);
/// All that is there counts as written.
void forget_unwritten();

void mark_unwritten(std::uintptr_t begin, std::size_t bytes);
void mark_written(const void* memory, std::size_t bytes);
/// A copy: its words are as those of the source.
void mark_copied(const void* to, const void* from, std::size_t bytes);

}  // namespace cuda_cpu
