// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 07, fix the bug: a product that is right for square matrices only.
//
// C = A * B, row-major; C has c.height rows and c.width columns. One thread per element, lanes
// along a row of C. A test with 64 x 64 finds nothing wrong.
// Check it: make lab CH=07 EX=1      A hint: make hint CH=07 EX=1
#include "common/common.cuh"

constexpr unsigned kBlockX = 32, kBlockY = 8;

__global__ void multiply(Matrix a, Matrix b, Matrix c) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  // TODO: what is wrong when C is not square?
  if (row >= c.width || column >= c.height) return;
  float sum = 0;
  for (unsigned i = 0; i < a.width; ++i) sum += a.at(row, i) * b.at(i, column);
  c.at(row, column) = sum;
  // end of TODO
}

void launch_multiply(Matrix a, Matrix b, Matrix c) {
  // TODO: and what is wrong here?
  const dim3 grid(static_cast<unsigned>(div_up(c.height, kBlockX)),
                  static_cast<unsigned>(div_up(c.width, kBlockY)));
  // end of TODO
  multiply<<<grid, dim3(kBlockX, kBlockY)>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}
