// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 08, write the kernel: every row of A with every row of B.
//
// C(i, j) is the sum over l of A(i, l) * B(j, l). In other words C is A times the transpose of B,
// which nobody has to write down. A is m x k, B is n x k, C is m x n, any sizes and strides. The
// block is tile x tile threads, tile is 8, 16 or 32, and the launch sizes both tiles. With 32, a
// request to memory touches 5 sectors at most, and one to shared memory takes one wavefront.
// Check it: make lab CH=08 EX=4      A hint: make hint CH=08 EX=4
#include "common/common.cuh"

// Outside of the matrix there are zeros, which change no sum.
__device__ float at_or_zero(const Matrix& m, unsigned row, unsigned column) {
  return row < m.height && column < m.width ? m.at(row, column) : 0.0f;
}

__global__ void multiply_rows(Matrix a, Matrix b, Matrix c) {
  extern __shared__ float tiles[];  // A's tile, then B's
  const unsigned tile = blockDim.x, x = threadIdx.x, y = threadIdx.y;
  const unsigned padded = tile + 1;  // of B's tile: its rows are read by columns
  float* const tile_a = tiles;
  float* const tile_b = tiles + tile * tile;
  const unsigned row = blockIdx.y * tile + y, column = blockIdx.x * tile + x;
  float sum = 0;
  for (unsigned first = 0; first < a.width; first += tile) {
    tile_a[y * tile + x] = at_or_zero(a, row, first + x);
    tile_b[y * padded + x] = at_or_zero(b, blockIdx.x * tile + y, first + x);
    __syncthreads();  // both tiles are complete before anyone reads them
    for (unsigned i = 0; i < tile; ++i) sum += tile_a[y * tile + i] * tile_b[x * padded + i];
    __syncthreads();  // everyone has read before anyone loads the next tiles over these
  }
  if (row < c.height && column < c.width) c.at(row, column) = sum;
}

void launch_multiply_rows(const Matrix& a, const Matrix& b, const Matrix& c, unsigned tile) {
  const dim3 grid(static_cast<unsigned>(div_up(c.width, tile)),
                  static_cast<unsigned>(div_up(c.height, tile)));
  const std::size_t bytes = (tile * tile + tile * (tile + 1)) * sizeof(float);
  multiply_rows<<<grid, dim3(tile, tile), bytes>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}
