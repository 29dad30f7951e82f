// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 08, fix the bug: tiles that stick out of the matrix.
//
// C = A * B by tiles of 16 x 16. It is right when 16 divides m, n and k. Make it right for all of
// them, also where a matrix is a part of a wider one: then the rows begin m.stride elements apart,
// and what lies between them may be anything, NaN too.
// Check it: make lab CH=08 EX=2      A hint: make hint CH=08 EX=2
#include "common/common.cuh"

constexpr unsigned kTile = 16;

// A is m x k, B is k x n, C is m x n; m is c.height, n is c.width, k is a.width.
__global__ void multiply_tiled(Matrix a, Matrix b, Matrix c) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * kTile + y;
  const unsigned column = blockIdx.x * kTile + x;
  // TODO: more than one line of the rest needs a change.
  if (row >= c.height || column >= c.width) return;
  float sum = 0;
  for (unsigned first = 0; first + kTile <= a.width; first += kTile) {
    tile_a[y][x] = a.at(row, first + x);
    tile_b[y][x] = b.at(first + y, column);
    __syncthreads();  // both tiles are complete before anyone reads them
    for (unsigned i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();  // everyone has read before anyone loads the next tiles over these
  }
  c.at(row, column) = sum;
  // end of TODO
}
