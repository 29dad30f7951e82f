// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 08, fix the bug: a tile that changes while it is read.
//
// C = A * B by tiles of 16 x 16, with a thread for each element of C. A is m x k, B is k x n, any
// sizes. C is right as long as k is no more than 16. Make it right for every k.
// Check it: make lab CH=08 EX=1      A hint: make hint CH=08 EX=1
#include "common/common.cuh"

constexpr unsigned kTile = 16;

// Outside of the matrix there are zeros, which change no sum.
__device__ float at_or_zero(const Matrix& m, unsigned row, unsigned column) {
  return row < m.height && column < m.width ? m.at(row, column) : 0.0f;
}

// The warps of a block never keep the same pace. Here every other one is slow on purpose, so that a
// race shows on any machine. This is not the bug.
__device__ void slow_down_every_other_warp() {
  const std::uint64_t start = global_timer_ns();
  while (threadIdx.y / 2 % 2 == 0 && global_timer_ns() - start < 3000) {
  }
}

__global__ void multiply_tiled(Matrix a, Matrix b, Matrix c) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * kTile + y;
  const unsigned column = blockIdx.x * kTile + x;
  float sum = 0;
  for (unsigned first = 0; first < a.width; first += kTile) {
    tile_a[y][x] = at_or_zero(a, row, first + x);
    tile_b[y][x] = at_or_zero(b, first + y, column);
    __syncthreads();  // both tiles are complete before anyone reads them
    slow_down_every_other_warp();
    for (unsigned i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();  // everyone has read before anyone loads the next tiles over these
  }
  if (row < c.height && column < c.width) c.at(row, column) = sum;
}
