// SPDX-License-Identifier: MIT
// The sizes at which off-by-one errors show, for tests of kernels and for checks of labs.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

/// True under checkers that slow a kernel down a hundredfold (TEST_SIZES=small in the environment).
inline bool small_sizes() {
  const char* const sizes = std::getenv("TEST_SIZES");
  return sizes != nullptr && std::string(sizes) == "small";
}

/// Whether the CPU backend looks for races. A test that makes one on purpose has to leave it out.
inline bool races_are_looked_for() {
  const char* const wanted = std::getenv("CUDA_CPU_RACES");
  return wanted != nullptr && *wanted != '0';
}

/// Empty, one, around a warp, around blocks, multiples of nothing; all below 4096.
inline std::vector<std::size_t> awkward_sizes() {
  return {0, 1, 31, 32, 33, 64, 127, 128, 255, 256, 257, 1000, 1023, 1024, 2053};
}

/// Block sizes that kernels meet: one thread, no whole warp, whole warps, no power of two, the
/// largest.
inline std::vector<unsigned> awkward_blocks() { return {1, 31, 32, 33, 96, 250, 256, 1024}; }
