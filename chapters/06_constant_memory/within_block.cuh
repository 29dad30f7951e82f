// SPDX-License-Identifier: MIT
// Chapter 06, --show within_block: the patterns as the literature has them. There the number of a
// thread *within its block* chooses the word: a block of 1024 threads uses 1024 words at most, and
// all blocks use the same. Included by constant_memory.cu.
#pragma once

#include <string>

#include "../../common/common.cuh"

constexpr Pattern kWarpInBlock{4}, kThreadInBlock{5}, kRandomInBlock{6};

template <>
__device__ std::size_t word_of<kWarpInBlock>(std::size_t) {
  return threadIdx.x / kWarp;  // 32 words in use
}
template <>
__device__ std::size_t word_of<kThreadInBlock>(std::size_t) {
  return threadIdx.x;  // 4 KiB in use
}
template <>
__device__ std::size_t word_of<kRandomInBlock>(std::size_t) {
  return threadIdx.x * 1357u % kWords;  // 4 KiB in use, scattered over the table
}

namespace within_block {

const Version<Additions> kVersions[] = {
    {"block_constant", "one word per block, from constant memory",
     launch_constant<Pattern::kBlock>},
    {"block_global", "the same from global memory", launch_global<Pattern::kBlock>},
    {"block_readonly", "the same by the read-only path", launch_readonly<Pattern::kBlock>},
    {"warp_in_block_constant", "one word per warp of the block, from constant memory",
     launch_constant<kWarpInBlock>},
    {"warp_in_block_global", "the same from global memory", launch_global<kWarpInBlock>},
    {"warp_in_block_readonly", "the same by the read-only path", launch_readonly<kWarpInBlock>},
    {"thread_in_block_constant", "one word per thread of the block, from constant memory",
     launch_constant<kThreadInBlock>},
    {"thread_in_block_global", "the same from global memory", launch_global<kThreadInBlock>},
    {"thread_in_block_readonly", "the same by the read-only path", launch_readonly<kThreadInBlock>},
    {"random_in_block_constant", "scattered words per thread of the block, from constant memory",
     launch_constant<kRandomInBlock>},
    {"random_in_block_global", "the same from global memory", launch_global<kRandomInBlock>},
    {"random_in_block_readonly", "the same by the read-only path", launch_readonly<kRandomInBlock>},
};

std::size_t expected_word(const std::string& version, std::size_t i, std::size_t block) {
  const std::size_t t = i % block;
  const std::size_t numbers[] = {i / block, t / kWarp, t, t * 1357};
  return numbers[static_cast<int>(pattern_of(version))] % kWords;
}

// Compares every sum with the host's.
bool is_right(const std::string& version, const Additions& d) {
  std::vector<int> expected = d.h_x;
  for (std::size_t i = 0; i < d.n; ++i) {
    expected[i] += d.h_table[expected_word(version, i, d.block)];
  }
  return all_equal(version, d.y.download().data(), expected.data(), d.n);
}

void add_rows(ResultTable& table, const Additions& d) {
  add_version_rows(
      table, kVersions, d, 2.0 * static_cast<double>(d.x.bytes()), [&] { d.y.poison(); },
      [&](const char* version) { return is_right(version, d); });
}

}  // namespace within_block
