// SPDX-License-Identifier: MIT
// What the backend knows of one piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../types/site.h"

struct CUctx_st;
struct CUmemPoolHandle_st;

namespace cuda_cpu {

enum class Space { kGlobal, kManaged, kHostPinned, kHostRegistered, kConstant, kDevice, kShared };

/// One piece of memory.
struct MemoryRange {
  std::uintptr_t base = 0;
  std::size_t size = 0;
  Space space = Space::kGlobal;
  const char* name = "";  ///< symbol or shared array; "" for allocations
  Site allocated{"", 0};  ///< where
  bool live = true;       ///< false: freed (still known, so that use after free can be named)
  Site freed{"", 0};
  const char* call = "";         ///< "cudaMalloc", "cudaMallocHost", ...
  unsigned host_flags = 0;       ///< cudaHostAlloc or cudaHostRegister flags
  std::size_t element_size = 0;  ///< of a typed allocation, else 0
  std::size_t row_bytes = 0;     ///< that are used of padded rows
  std::size_t pitch = 0;         ///< from row to row
  bool is_heap = false;          ///< from malloc or new in device code
  bool may_hold_pointers = false;
  CUmemPoolHandle_st* pool = nullptr;  ///< that it was taken from
  CUctx_st* context = nullptr;         ///< that was current when it was allocated
  int device = 0;                      ///< the same

  std::uintptr_t end() const { return base + size; }
};

}  // namespace cuda_cpu
