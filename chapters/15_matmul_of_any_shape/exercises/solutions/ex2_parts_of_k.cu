// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 15, fix the bug: steps that belong to no part.
//
// C = A * B by tiles of 16 x 16, any sizes. C is small and k is large, so the steps of a tile are
// split into gridDim.z parts. Each block leaves what its part brings in a matrix of its own, and
// add_parts adds these matrices. For some k and some numbers of parts the product is wrong.
// Check it: make lab CH=15 EX=2      A hint: make hint CH=15 EX=2
#include "common/common.cuh"

constexpr unsigned kTile = 16;

// Outside of the matrix there are zeros, which change no sum.
__device__ float at_or_zero(const Matrix& m, unsigned row, unsigned column) {
  return row < m.height && column < m.width ? m.at(row, column) : 0.0f;
}

// `sums` has room for a dense matrix like C for each part, one after the other.
__global__ void multiply_part(Matrix a, Matrix b, float* sums) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  const unsigned steps = (a.width + kTile - 1) / kTile;
  const unsigned first = steps * blockIdx.z / gridDim.z;
  const unsigned end = steps * (blockIdx.z + 1) / gridDim.z;  // where the next part begins
  float sum = 0;
  for (unsigned step = first; step < end; ++step) {
    tile_a[y][x] = at_or_zero(a, row, step * kTile + x);
    tile_b[y][x] = at_or_zero(b, step * kTile + y, column);
    __syncthreads();  // both tiles are complete before anyone reads them
    for (unsigned i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();  // everyone has read before anyone loads the next tiles over these
  }
  if (row < a.height && column < b.width)
    sums[(std::size_t{blockIdx.z} * a.height + row) * b.width + column] = sum;
}

// A thread for each element of C.
__global__ void add_parts(const float* sums, unsigned parts, Matrix c) {
  const unsigned row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  if (row >= c.height || column >= c.width) return;
  float sum = 0;
  for (unsigned part = 0; part < parts; ++part)
    sum += sums[(std::size_t{part} * c.height + row) * c.width + column];
  c.at(row, column) = sum;
}
