// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace cuda_cpu {

/// What a fetch returns, four words, floats or integers by their bits; and the texels that it read,
/// for the race detector.
struct TexelsRead {
  std::uint32_t words[4] = {};
  const void* address[8];
  int count = 0, bytes = 0;
};

}  // namespace cuda_cpu
