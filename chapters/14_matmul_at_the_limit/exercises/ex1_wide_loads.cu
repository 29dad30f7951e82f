// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 14, write the kernel: shared memory, read 16 bytes at a time.
//
// C = A * B by tiles of 64 x 64. Each of the 16 x 16 threads of a block computes 4 x 4 elements of
// C. The starter is right, and for each l, a column of A and a row of B, a warp makes eight
// requests to shared memory. Make it two, of 6 wavefronts together. Any sizes, but n and the
// strides of B and C are multiples of 4, and the matrices begin at multiples of 16 bytes.
// Check it: make lab CH=14 EX=1      A hint: make hint CH=14 EX=1
#include "common/common.cuh"

constexpr unsigned kTile = 64, kDepth = 16, kSide = 16, kEach = kTile / kSide;

// Outside of the matrix there are zeros, which change no sum.
__device__ float at_or_zero(const Matrix& m, unsigned row, unsigned column) {
  return row < m.height && column < m.width ? m.at(row, column) : 0.0f;
}

// What a block needs in a step: of A kDepth columns, stored as rows, of B kDepth rows. Each row of
// either begins at a multiple of 16 bytes.
struct Slices {
  float a[kDepth][kTile + 4], b[kDepth][kTile];
};

__device__ void bring(Slices& to, const Matrix& a, const Matrix& b, unsigned first) {
  for (unsigned e = threadIdx.y * kSide + threadIdx.x; e < kTile * kDepth; e += kSide * kSide) {
    const unsigned down = e / kDepth, across = e % kDepth;
    to.a[across][down] = at_or_zero(a, blockIdx.y * kTile + down, first + across);
    to.b[e / kTile][e % kTile] = at_or_zero(b, first + e / kTile, blockIdx.x * kTile + e % kTile);
  }
}

__global__ void multiply(Matrix a, Matrix b, Matrix c) {
  __shared__ alignas(16) Slices slices;
  const unsigned x = threadIdx.x, y = threadIdx.y;
  // TODO: give each thread 4 neighbouring rows and 4 neighbouring columns, and read 16 bytes at a
  // time: at each l once from slices.a and once from slices.b.
  float sum[kEach][kEach] = {};
  const unsigned row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  for (unsigned first = 0; first < a.width; first += kDepth) {
    bring(slices, a, b, first);
    __syncthreads();  // both slices are complete before anyone reads them
    for (unsigned l = 0; l < kDepth; ++l) {
      for (unsigned i = 0; i < kEach * kEach; ++i)
        sum[i / kEach][i % kEach] +=
            slices.a[l][y + i / kEach * kSide] * slices.b[l][x + i % kEach * kSide];
    }
    __syncthreads();  // everyone has read before anyone brings the next slices
  }
  for (unsigned i = 0; i < kEach * kEach; ++i) {
    const unsigned r = row + i / kEach * kSide, q = column + i % kEach * kSide;
    if (r < c.height && q < c.width) c.at(r, q) = sum[i / kEach][i % kEach];
  }
  // end of TODO
}
