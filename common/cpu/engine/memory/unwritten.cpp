// SPDX-License-Identifier: MIT
#include "unwritten.h"

#include <sys/mman.h>

#include <algorithm>

#include "../state/pages.h"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

namespace cuda_cpu {
namespace {

constexpr std::size_t kWord = UnwrittenWords::kWord;

/// Bytes of the bits.
std::size_t room() { return round_up(unwritten_words.bytes / kWord / 8, page_bytes()); }

/// The words from `first` to just before `end`.
void set(std::uintptr_t first, std::uintptr_t end, bool unwritten) {
  std::uint64_t* const bits = unwritten_words.bits;
  while (first < end) {
    const std::uintptr_t here = std::min<std::uintptr_t>(64 - first % 64, end - first);
    const std::uint64_t mask = (here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1)
                               << first % 64;
    std::uint64_t& some = bits[first / 64];
    // What need not change is left alone: the system has given no room to most of it.
    if ((some & mask) != (unwritten ? mask : 0)) some ^= (some ^ (unwritten ? mask : 0)) & mask;
    first += here;
  }
}

}  // namespace

void keep_unwritten(std::uintptr_t base, std::size_t bytes) {
  if (unwritten_words.bits != nullptr) munmap(unwritten_words.bits, room());
  unwritten_words = UnwrittenWords{};
  if (bytes == 0) return;
  void* const bits =
      mmap(nullptr, round_up(bytes / kWord / 8, page_bytes()), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bits != MAP_FAILED) unwritten_words = {base, bytes, static_cast<std::uint64_t*>(bits)};
}

void forget_unwritten() { keep_unwritten(unwritten_words.base, unwritten_words.bytes); }

void mark_unwritten(std::uintptr_t begin, std::size_t bytes) {
  if (begin - unwritten_words.base >= unwritten_words.bytes) return;
  const std::uintptr_t at = begin - unwritten_words.base;
  set((at + kWord - 1) / kWord, (at + bytes) / kWord, true);
}

void mark_written(const void* memory, std::size_t bytes) {
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(memory) - unwritten_words.base;
  if (at < unwritten_words.bytes) set(at / kWord, (at + bytes + kWord - 1) / kWord, false);
}

void mark_copied(const void* to, const void* from, std::size_t bytes) {
  mark_written(to, bytes);
  const auto begin = reinterpret_cast<std::uintptr_t>(to);
  const auto source = reinterpret_cast<std::uintptr_t>(from);
  if (source - unwritten_words.base >= unwritten_words.bytes || (source - begin) % kWord != 0)
    return;
  for (std::size_t at = (kWord - begin % kWord) % kWord; at + kWord <= bytes; at += kWord) {
    if (unwritten_words.has(source + at)) mark_unwritten(begin + at, kWord);
  }
}

}  // namespace cuda_cpu
