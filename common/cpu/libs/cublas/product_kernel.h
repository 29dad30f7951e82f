// SPDX-License-Identifier: MIT
// C = alpha * op(A) * op(B) + beta * C on the CPU, in blocks that fit its caches.
#pragma once

#include <cstddef>

#include "../../types/library_types.h"

namespace cuda_cpu {

/// How elements are rounded before they are multiplied.
enum class Inputs { kAsTheyAre, kTf32 };

/// A factor as it is read: element (i, l) of op(A) lies at i * row_step + l * column_step.
struct Factor {
  const void* data;
  cudaDataType_t type;
  std::size_t row_step, column_step;
};

/// C is m x n, column-major; the products have k terms.
struct ProductJob {
  std::size_t m, n, k;
  Factor a, b;
  void* c;
  cudaDataType_t c_type;
  std::size_t c_step;
  Inputs inputs;
};

/// Sums are kept in Sum: float or double. With beta = 0 C is only written; with alpha = 0 A and B
/// are not read.
template <class Sum>
void multiply(const ProductJob& job, Sum alpha, Sum beta);

extern template void multiply<float>(const ProductJob& job, float alpha, float beta);
extern template void multiply<double>(const ProductJob& job, double alpha, double beta);

}  // namespace cuda_cpu
