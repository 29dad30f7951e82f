// SPDX-License-Identifier: MIT
// Notes and sizes with which reports describe a piece of memory.
#pragma once

#include <string>
#include <vector>

#include "../../report/diagnostics.h"
#include "memory_range.h"

namespace cuda_cpu {

/// What kind of memory it is, with its name: "the __shared__ array 'tile'", "device memory"
inline std::string memory_name(const MemoryRange& range) {
  switch (range.space) {
    case Space::kShared:
      return format("the __shared__ array '%s'", range.name);
    case Space::kConstant:
      return format("the __constant__ variable '%s'", range.name);
    case Space::kDevice:
      return format("the __device__ variable '%s'", range.name);
    case Space::kManaged:
      if (*range.name != '\0') return format("the __managed__ variable '%s'", range.name);
      return "managed memory";
    case Space::kHostPinned:
      return "pinned host memory";
    case Space::kHostRegistered:
      return "registered host memory";
    case Space::kGlobal:
      break;
  }
  return range.is_heap ? "memory of the device's heap" : "device memory";
}

/// Where the memory comes from.
inline Report::Note origin_note(const MemoryRange& range) {
  if (*range.name != '\0') return {range.allocated, "declared here"};
  return {range.allocated, format("allocated here by %s", range.call)};
}

/// Where it was freed.
inline Report::Note freed_note(const MemoryRange& range) {
  const bool by_reset = range.freed.file == nullptr;
  if (!by_reset && *range.freed.file == '\0')
    return {range.freed, "freed by delete in device code"};
  return {range.freed, by_reset ? "freed by cudaDeviceReset" : "freed here"};
}

/// Both, as far as there is something to say.
inline std::vector<Report::Note> notes_of(const MemoryRange& range) {
  if (range.live) return {origin_note(range)};
  return {origin_note(range), freed_note(range)};
}

/// "1000 elements of 4 bytes", "4000 bytes"
inline std::string size_text(const MemoryRange& range) {
  if (range.element_size > 1 && range.size % range.element_size == 0) {
    return format("%zu elements of %zu bytes", range.size / range.element_size, range.element_size);
  }
  return format("%zu bytes", range.size);
}

}  // namespace cuda_cpu
