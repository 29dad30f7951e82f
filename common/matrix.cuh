// SPDX-License-Identifier: MIT
// A matrix as kernels see it. Not part of common.cuh: a few chapters and labs need it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "backend.cuh"
#include "check.cuh"

/// A view of a row-major matrix, or of a part of one: element (row, column) is
/// data[row * stride + column]. Trivially copyable, so that kernels take it by value. Sides are
/// 32-bit, since index arithmetic in 64 bits costs several instructions per load; their product is
/// 64-bit.
struct Matrix {
  float* data;
  unsigned height, width;  ///< rows, columns
  unsigned stride;         ///< elements from one row to the next; at least width

  __host__ __device__ float& at(unsigned row, unsigned column) const {
    return data[static_cast<std::size_t>(row) * stride + column];
  }

  /// Elements from the first to the last row, padding included.
  std::size_t elements() const { return static_cast<std::size_t>(height) * stride; }
};

/// Dense host values, row by row, with `gap` NaNs behind each row of `width`: a kernel that takes
/// the width for the stride reads them.
inline std::vector<float> with_gaps(const std::vector<float>& dense, std::size_t width,
                                    std::size_t gap) {
  const std::size_t height = width == 0 ? 0 : dense.size() / width;
  std::vector<float> wide(height * (width + gap), std::nanf(""));
  for (std::size_t row = 0; row < height; ++row) {
    std::copy_n(&dense[row * width], width, &wide[row * (width + gap)]);
  }
  return wide;
}
