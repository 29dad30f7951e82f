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
  // TODO: walk along a strip of A and a strip of B. Let neighbouring threads load neighbours.
  (void)a, (void)b, (void)c, (void)tiles, (void)tile, (void)x, (void)y;
  // end of TODO
}

void launch_multiply_rows(const Matrix& a, const Matrix& b, const Matrix& c, unsigned tile) {
  // TODO: how many blocks along x, how many along y, and how many bytes of shared memory each?
  const dim3 grid(1, 1);
  const std::size_t bytes = 0;
  // end of TODO
  multiply_rows<<<grid, dim3(tile, tile), bytes>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}
