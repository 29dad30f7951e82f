// SPDX-License-Identifier: MIT
// The instructions that a warp makes: products of the registers of its lanes, and small matrices
// that go from memory to registers or back. The last lane makes each for all.
#pragma once

#include "../../types/site.h"
#include "products.h"

namespace cuda_cpu {

/// mma.sync: d += a b, of 16 x K and K x 8. All lanes of a warp call it.
void multiply_in_warp(TensorFormat format, float (&d)[4], const unsigned (&a)[4],
                      const unsigned (&b)[2], Site site);

/// One row of a matrix, as ldmatrix reads it and stmatrix writes it.
struct MatrixRow {
  alignas(16) unsigned words[4];
};

/// Stops the kernel unless a row may lie there.
void check_matrix_row(const void* row, Site site, const char* instruction = "ldmatrix");

/// ldmatrix.x4: each of 32 lanes has read a row, and gets its part of four matrices.
void exchange_rows(unsigned (&r)[4], const MatrixRow& row, bool transposed, Site site);

/// stmatrix.x4.trans: each of 32 lanes has its part of four matrices, by columns, and gets the row
/// that it stores.
MatrixRow row_of_columns(const unsigned (&r)[4], Site site);

}  // namespace cuda_cpu
