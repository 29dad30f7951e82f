// SPDX-License-Identifier: MIT
// Chapter 12, an array small enough for one register: its index becomes a shift. Included by
// registers_and_local_memory.cu.
#pragma once

#include "../../common/common.cuh"

// A word has eight digits, so that no count within it passes 8: 16 counters of four bits fill one
// 64-bit variable. Behind each word they are added to bytes, those of even and of odd digits apart.
__global__ void count_shifted(Words words, uint4* counts) {
  constexpr unsigned long long kEven = 0x0f0f0f0f0f0f0f0full;
  unsigned long long even = 0, odd = 0;
  for (unsigned k = 0; k < kWords; ++k) {
    const std::size_t i = word_index(k);
    if (i >= words.n) break;
    unsigned long long in_word = 0;
    for (unsigned shift = 0; shift < 32; shift += 4) {
      in_word += 1ull << 4 * (words.x[i] >> shift & 15);
    }
    even += in_word & kEven;
    odd += in_word >> 4 & kEven;
  }
  unsigned count[kCounters];
#pragma unroll
  for (unsigned c = 0; c < kCounters; ++c) count[c] = (c % 2 ? odd : even) >> 8 * (c / 2) & 255;
  store_as_bytes(count, counts);
}
