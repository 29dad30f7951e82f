// SPDX-License-Identifier: MIT
// How reports speak about a piece of memory.
#pragma once

#include <string>

#include "diagnostics.h"
#include "memory.h"

namespace cuda_cpu {

/// Where the memory comes from.
inline Report::Note origin_note(const Region& region) {
  if (*region.name != '\0') return {region.allocated, "declared here"};
  return {region.allocated, format("allocated here by %s", region.call)};
}

/// Where it went.
inline Report::Note freed_note(const Region& region) {
  const bool by_reset = region.freed.file == nullptr;
  return {region.freed, by_reset ? "freed by cudaDeviceReset" : "freed here"};
}

/// "1000 elements of 4 bytes", "4000 bytes"
inline std::string size_text(const Region& region) {
  if (region.element_size > 1 && region.size % region.element_size == 0) {
    return format("%zu elements of %zu bytes", region.size / region.element_size,
                  region.element_size);
  }
  return format("%zu bytes", region.size);
}

}  // namespace cuda_cpu
