// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 07, fix the bug: width in place of stride.
//
// part_of() gives a view of a part of a matrix: nothing is copied, the elements stay where they
// are. multiply() computes C = A * B, and all three may be such parts. Both are right as long as a
// matrix is whole.
// Check it: make lab CH=07 EX=2      A hint: make hint CH=07 EX=2
#include "common/common.cuh"

// The part with `height` rows and `width` columns that begins at (row, column) of `whole`.
Matrix part_of(const Matrix& whole, unsigned row, unsigned column, unsigned height,
               unsigned width) {
  // TODO: where does the part begin, and how far is it from one of its rows to the next?
  return {whole.data + (row * whole.width + column), height, width, width};
  // end of TODO
}

__global__ void multiply(Matrix a, Matrix b, Matrix c) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= c.height || column >= c.width) return;
  // TODO: the same question, for A, B and C.
  float sum = 0;
  for (unsigned i = 0; i < a.width; ++i) {
    sum += a.data[row * a.width + i] * b.data[i * b.width + column];
  }
  c.data[row * c.width + column] = sum;
  // end of TODO
}

void launch_multiply(Matrix a, Matrix b, Matrix c) {
  const dim3 block(32, 8);
  multiply<<<dim3(static_cast<unsigned>(div_up(c.width, block.x)),
                  static_cast<unsigned>(div_up(c.height, block.y))),
             block>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}
