// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 15, write the kernel: even shares.
//
// C = A * B by tiles of 16 x 16, any sizes, on a grid of any number of blocks. All tiles have the
// same number of steps along k. With a whole tile per turn some blocks have more to do than others,
// or nothing at all. Give every block the same number of steps, rounded up at most: several blocks
// then share a tile, and add what each of them has to C, once per tile and block. C begins as zero.
// Check it: make lab CH=15 EX=3      A hint: make hint CH=15 EX=3
#include "common/common.cuh"

constexpr unsigned kTile = 16;

// Outside of the matrix there are zeros, which change no sum.
__device__ float at_or_zero(const Matrix& m, unsigned row, unsigned column) {
  return row < m.height && column < m.width ? m.at(row, column) : 0.0f;
}

// What `count` steps from step `first` on bring for this thread's element of a tile; tiles are
// counted along the rows of C. The whole block has to call it.
__device__ float sum_of_steps(const Matrix& a, const Matrix& b, unsigned tile, unsigned first,
                              unsigned count) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y, across = (b.width + kTile - 1) / kTile;
  float sum = 0;
  for (unsigned k = first * kTile; k < (first + count) * kTile; k += kTile) {
    tile_a[y][x] = at_or_zero(a, tile / across * kTile + y, k + x);
    tile_b[y][x] = at_or_zero(b, k + y, tile % across * kTile + x);
    __syncthreads();  // both tiles are complete before anyone reads them
    for (unsigned i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();  // everyone has read before anyone loads the next tiles over these
  }
  return sum;
}

// Adds `sum` to this thread's element of a tile.
__device__ void add_to(const Matrix& c, unsigned tile, float sum) {
  const unsigned across = (c.width + kTile - 1) / kTile;
  const unsigned row = tile / across * kTile + threadIdx.y;
  const unsigned column = tile % across * kTile + threadIdx.x;
  if (row < c.height && column < c.width) atomicAdd(&c.at(row, column), sum);
}

// The steps of all tiles are numbered, one tile after the other. This is the first step of block
// `block`, which ends where the next block begins; begin_of(all, blocks, blocks) is `all`, which
// may be large.
__host__ __device__ unsigned begin_of(unsigned all, unsigned blocks, unsigned block) {
  return static_cast<unsigned>(std::uint64_t{all} * block / blocks);  // needs more than 32 bits
}

__global__ void multiply(Matrix a, Matrix b, Matrix c) {
  const unsigned steps = (a.width + kTile - 1) / kTile;
  const unsigned tiles = (c.height + kTile - 1) / kTile * ((c.width + kTile - 1) / kTile);
  const unsigned all = tiles * steps, end = begin_of(all, gridDim.x, blockIdx.x + 1);
  for (unsigned at = begin_of(all, gridDim.x, blockIdx.x); at < end;) {
    const unsigned tile = at / steps, first = at % steps;
    const unsigned count = min(steps - first, end - at);  // to the end of the tile, or of the share
    add_to(c, tile, sum_of_steps(a, b, tile, first, count));
    at += count;
  }
}
