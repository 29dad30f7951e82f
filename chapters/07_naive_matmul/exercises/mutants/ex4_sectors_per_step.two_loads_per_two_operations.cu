// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 07, predict, then measure: what a step of the product asks for.
//
// Put your predictions in place of the -1; change nothing else. The check runs the kernels and
// counts. It says too low or too high, never the number.
// Check it: make lab CH=07 EX=4      A hint: make hint CH=07 EX=4
#include "common/common.cuh"

constexpr unsigned kSide = 64, kDepth = 16;  // C is 64 x 64, A is 64 x 16, B is 16 x 64

// In each turn of the loop in dot() a warp loads from A and from B. How many sectors of 32 bytes
// do these two loads touch together? Threads of a block are numbered along x first; every array
// begins at the start of a sector.
constexpr double kBlock32x8 = 5;        // columns_along_x, block 32 x 8
constexpr double kBlock16x16 = 4;       // columns_along_x, block 16 x 16
constexpr double kBlock8x32 = 5;        // columns_along_x, block 8 x 32
constexpr double kRowsAlongX32x8 = 33;  // rows_along_x, block 32 x 8
// The rows of B are 65 floats apart instead of 64. The average over the 16 turns?
constexpr double kOddStride32x8 = 5.875;  // columns_along_x, block 32 x 8, stride 65

// The memory lets a chip reach its peak from 14 operations per byte on. A and B (n x n floats) are
// read once, C is written once, there are n * n * n multiplications and as many additions.
constexpr int kSmallestSide = 56;  // the smallest n from which the memory is not the limit

__device__ float dot(const float* a, const float* b, unsigned stride, unsigned row, unsigned col) {
  float sum = 0;
  for (unsigned i = 0; i < kDepth; ++i) sum += a[row * kDepth + i] * b[i * stride + col];
  return sum;
}

__global__ void columns_along_x(const float* a, const float* b, unsigned stride, float* c) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  c[row * kSide + column] = dot(a, b, stride, row, column);
}

__global__ void rows_along_x(const float* a, const float* b, unsigned stride, float* c) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned column = blockIdx.y * blockDim.y + threadIdx.y;
  c[row * kSide + column] = dot(a, b, stride, row, column);
}
