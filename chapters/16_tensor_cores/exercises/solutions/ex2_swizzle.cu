// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 16, write the code: a place for each piece.
//
// A block brings 64 rows of A to shared memory, in pieces of 16 bytes, and multiplies them with
// themselves: C[i][j] is the sum of the products of rows i and j. The results are right wherever
// the pieces lie, as long as no two lie at the same place.
// Check it: make lab CH=16 EX=2      A hint: make hint CH=16 EX=2
#include "chapters/16_tensor_cores/product.cuh"
#include "common/common.cuh"

constexpr unsigned kRows = 64, kPiece = 8;  // a piece: 8 elements of a row, 16 bytes
constexpr unsigned kThreads = 128, kWarp = 32;

// Where a row's piece with this number lies: in the pieces of the tile, counted from 0. A row has
// kInRow pieces: 2, 4, 8 or 16. The tile has no room for more than the pieces.
template <unsigned kInRow>
__device__ unsigned place(unsigned row, unsigned number) {
  // Eight rows, one below the other, want eight groups of four banks. Rows that share the 128 bytes
  // of all banks are in other groups already.
  constexpr unsigned kRowsOfBanks = kInRow < 8 ? 8 / kInRow : 1;
  constexpr unsigned kGroups = kInRow < 8 ? kInRow : 8;
  return row * kInRow + (number ^ row / kRowsOfBanks % kGroups);
}

__device__ uint4& sixteen_bytes(Bf16* at) { return *reinterpret_cast<uint4*>(at); }

// `a` has 64 rows of kInRow pieces, which begin at multiples of 16 bytes; c is 64 x 64.
template <unsigned kInRow>
__global__ void multiply_by_itself(Bf16Matrix a, Matrix c) {
  __shared__ alignas(128) Bf16 tile[kRows * kInRow * kPiece];
  for (unsigned i = threadIdx.x; i < kRows * kInRow; i += kThreads) {
    const unsigned row = i / kInRow, number = i % kInRow;
    sixteen_bytes(&tile[place<kInRow>(row, number) * kPiece]) =
        sixteen_bytes(&a.at(row, number * kPiece));
  }
  __syncthreads();
  // A warp has 16 rows of C. An ldmatrix loads 16 rows of two pieces; lane i says where row i % 16
  // begins, of the first or of the second.
  const unsigned lane = threadIdx.x % kWarp, first_row = threadIdx.x / kWarp * 16;
  float sum[kRows / 8][4] = {};
  for (unsigned number = lane / 16; number < kInRow; number += 2) {
    unsigned of_a[4];
    ptx::load_matrices(of_a, &tile[place<kInRow>(first_row + lane % 16, number) * kPiece]);
#pragma unroll
    for (unsigned j = 0; j < kRows / 16; ++j) {  // A's rows are B's columns
      unsigned rows[4];
      ptx::load_matrices(rows, &tile[place<kInRow>(16 * j + lane % 16, number) * kPiece]);
      const unsigned upper[2] = {rows[0], rows[2]}, lower[2] = {rows[1], rows[3]};
      ptx::mma_m16n8k16(sum[2 * j], of_a, upper);
      ptx::mma_m16n8k16(sum[2 * j + 1], of_a, lower);
    }
  }
#pragma unroll
  for (unsigned j = 0; j < kRows / 8; ++j) {
#pragma unroll
    for (unsigned e = 0; e < 4; ++e)
      c.at(first_row + lane / 4 + e / 2 * 8, 8 * j + lane % 4 * 2 + e % 2) = sum[j][e];
  }
}
