// SPDX-License-Identifier: MIT
// Chapter 14: which kernel suits which shape. Included by matmul_at_the_limit.cu.
#pragma once

#include "even_shares.cuh"

constexpr unsigned kRowsOfCopy = 8;  // that a thread copies

/// Copies A and B into matrices that are as large or larger; what is beyond their ends becomes 0.
/// Blocks with z = 0 copy A, the others B.
__global__ void copy_padded(Matrix a, Matrix padded_a, Matrix b, Matrix padded_b) {
  const Matrix from = blockIdx.z == 0 ? a : b, to = blockIdx.z == 0 ? padded_a : padded_b;
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first_row = blockIdx.y * kRowsOfCopy;
  if (column >= to.width) return;
  float values[kRowsOfCopy];  // all are loaded before any is stored
#pragma unroll
  for (unsigned i = 0; i < kRowsOfCopy; ++i) values[i] = at_or_zero(from, first_row + i, column);
#pragma unroll
  for (unsigned i = 0; i < kRowsOfCopy; ++i)
    if (first_row + i < to.height) to.at(first_row + i, column) = values[i];
}

inline void launch_copies(const Product& p) {
  constexpr unsigned kBlock = 256;
  const Matrix a = p.padded_a(), b = p.padded_b();
  const dim3 grid(static_cast<unsigned>(div_up(std::max(a.width, b.width), kBlock)),
                  static_cast<unsigned>(div_up(std::max(a.height, b.height), kRowsOfCopy)), 2);
  copy_padded<<<grid, kBlock>>>(p.a, a, p.b, b);
}

/// Whether there is a large tile for nearly every multiprocessor: with fewer, too much would have
/// to be put together.
inline bool suits_large_tiles(const Product& p) {
  const std::size_t tiles =
      div_up(p.c.height, Turning::kRows) * div_up(p.c.width, Turning::kColumns);
  return 10 * tiles >= 9 * blocks_of_shares<Turning>();
}

/// Copies A and B first if their rows are not aligned; then large tiles, one block each, or small
/// ones in even shares.
inline void launch_by_shape(const Product& p) {
  const bool copies = p.needs_copies();
  if (copies) launch_copies(p);
  const Matrix a = copies ? p.padded_a() : p.a, b = copies ? p.padded_b() : p.b;
  suits_large_tiles(p) ? launch_serpentine(a, b, p.c) : launch_shares<Small>(p, a, b);
}
