// SPDX-License-Identifier: MIT
// The memory of CUDA arrays. An array keeps its description when it is freed, so that a later use
// can be named.
#pragma once

#include <algorithm>
#include <cstddef>

#include "../../types/site.h"
#include "array_types.h"

/// The memory of a cudaArray_t: rows without gaps.
struct cudaArray {
  cudaChannelFormatDesc format;
  cudaExtent extent;  ///< in texels; 0 where the array has no such axis
  unsigned flags;
  std::size_t row_bytes;
  char* texels;
  const char* call;
  cuda_cpu::Site allocated, freed{nullptr, 0};
  bool live = true;

  std::size_t rows() const { return std::max<std::size_t>(extent.height, 1); }
  std::size_t layers() const { return std::max<std::size_t>(extent.depth, 1); }
};
