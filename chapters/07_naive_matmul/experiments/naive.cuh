// SPDX-License-Identifier: MIT
// Chapter 07: the program's columns_along_x, which several experiments compare with something else.
#pragma once

#include "../../../common/common.cuh"

constexpr unsigned kBlockX = 32, kBlockY = 8;

// A thread per element of C. Neighbouring lanes have neighbouring columns: for every i a warp loads
// one element of A, the same for all lanes, and 32 neighbours of B, two loads for every
// multiplication and addition.
__global__ void multiply_naive(Matrix a, Matrix b, Matrix c) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= c.height || column >= c.width) return;  // no barrier follows
  float sum = 0;
  for (unsigned i = 0; i < a.width; ++i) sum += a.at(row, i) * b.at(i, column);
  c.at(row, column) = sum;
}
