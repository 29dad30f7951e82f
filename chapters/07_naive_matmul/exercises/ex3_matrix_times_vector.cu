// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 07, write the kernel: a matrix times a vector, a warp for each row.
//
// y[r] is the sum of a.at(r, i) * x[i] over the a.width elements of row r. Here the inner loop is
// the right one to split: there are few dot products, and they are long. Lane l of a warp takes
// i = l, l + 32, l + 64, ...; the lanes add up by shuffles; lane 0 writes y[r].
// Check it: make lab CH=07 EX=3      A hint: make hint CH=07 EX=3
#include "common/common.cuh"

constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

// The block has 32, 64, ... or 1024 threads: one warp or several, each with a row of its own.
__global__ void multiply_vector(Matrix a, const float* x, float* y) {
  // TODO: which row is this warp's, and is there such a row? Then the loop, the shuffles, y.
  (void)a, (void)x, (void)y;
  // end of TODO
}

void launch_multiply_vector(Matrix a, const float* x, float* y, unsigned block) {
  // TODO: how many blocks do a.height rows need?
  const unsigned blocks = 1;
  // end of TODO
  multiply_vector<<<blocks, block>>>(a, x, y);
  CUDA_CHECK_LAUNCH();
}
