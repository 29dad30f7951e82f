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
  const unsigned row = blockIdx.x * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  const unsigned lane = threadIdx.x % kWarp;
  if (row >= a.height) return;  // the whole warp leaves: the shuffles below miss nobody
  float sum = 0;
  for (unsigned i = lane; i < a.width; i += kWarp) sum += a.at(row, i) * x[i];
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(kAllLanes, sum, distance);
  }
  if (lane == 0) y[row] = sum;
}

void launch_multiply_vector(Matrix a, const float* x, float* y, unsigned block) {
  const auto blocks = static_cast<unsigned>(div_up(a.height, block / kWarp));
  multiply_vector<<<blocks, block>>>(a, x, y);
  CUDA_CHECK_LAUNCH();
}
