// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 08, predict, then measure: what tiles save, and what a column costs.
//
// Put your predictions in place of the -1; change nothing else. The check runs the kernels and
// counts. It says too low or too high, never the number.
// Check it: make lab CH=08 EX=3      A hint: make hint CH=08 EX=3
#include "common/common.cuh"

constexpr unsigned kTile = 16, kM = 40, kN = 72, kK = 50;  // A is 40 x 50, B 50 x 72, C 40 x 72

// multiply_tiled, below, on 3 x 5 blocks. How many elements do all threads together load from A,
// how many from B? (chapter 07's kernel loads 40 * 72 * 50 = 144000 of either)
constexpr int kLoadsOfA = 10000;  // elements of A, a load of the same one counts again
constexpr int kLoadsOfB = 10800;  // elements of B
constexpr int kBarriers = 8;      // how many barriers does a thread pass?

// store_column, below: how many wavefronts does the store of one warp take? (1: no conflict.)
constexpr int kRowsOf16 = 8;  // tile[16][16], a warp is two rows of 16 threads
constexpr int kRowsOf17 = 2;  // tile[16][17], the same with one word of padding
constexpr int kRowsOf36 = 4;  // tile[32][36], a warp is one row of 32 threads

__global__ void multiply_tiled(const float* a, const float* b, float* c) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  float sum = 0;
  for (unsigned first = 0; first < kK; first += kTile) {
    tile_a[y][x] = row < kM && first + x < kK ? a[row * kK + first + x] : 0.0f;
    tile_b[y][x] = first + y < kK && column < kN ? b[(first + y) * kN + column] : 0.0f;
    __syncthreads();
    for (unsigned i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  if (row < kM && column < kN) c[row * kN + column] = sum;
}

// Neighbouring threads store into the same column, each one row further down.
template <unsigned kSide, unsigned kPadding>
__global__ void store_column(float* out) {
  __shared__ float tile[kSide][kSide + kPadding];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  tile[x][y] = static_cast<float>(x);
  __syncthreads();
  out[y * kSide + x] = tile[y][x];
}
