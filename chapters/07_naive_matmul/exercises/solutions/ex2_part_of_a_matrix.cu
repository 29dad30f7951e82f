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
  // The rows of a part are as far apart as those of the whole. at() widens before it multiplies.
  return {&whole.at(row, column), height, width, whole.stride};
}

__global__ void multiply(Matrix a, Matrix b, Matrix c) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= c.height || column >= c.width) return;
  float sum = 0;
  for (unsigned i = 0; i < a.width; ++i) sum += a.at(row, i) * b.at(i, column);
  c.at(row, column) = sum;
}

void launch_multiply(Matrix a, Matrix b, Matrix c) {
  const dim3 block(32, 8);
  multiply<<<dim3(static_cast<unsigned>(div_up(c.width, block.x)),
                  static_cast<unsigned>(div_up(c.height, block.y))),
             block>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}
