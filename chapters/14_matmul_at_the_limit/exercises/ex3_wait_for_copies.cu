// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 14, fix the bug: tiles that are still on their way.
//
// C = A * B by tiles of 16 x 16, with a thread for each element of C, any sizes. Tiles are copied
// asynchronously, two steps ahead, into three pairs of tiles in turn. In step s the pair of step s
// is multiplied, and that of step s + 2 goes to where step s - 1 was read.
// Check it: make lab CH=14 EX=3      A hint: make hint CH=14 EX=3
#include <cuda_pipeline.h>

#include "common/common.cuh"

constexpr unsigned kTile = 16, kPairs = 3;

struct Tiles {
  float a[kTile][kTile], b[kTile][kTile];
};

// Begins to copy the thread's element of a tile. Outside of the matrix there is nothing to copy:
// zeros are written.
__device__ void begin_copy(float* to, const Matrix& m, unsigned row, unsigned column) {
  const bool exists = row < m.height && column < m.width;
  __pipeline_memcpy_async(to, exists ? &m.at(row, column) : m.data, sizeof(float),
                          exists ? 0 : sizeof(float));
}

__global__ void multiply(Matrix a, Matrix b, Matrix c) {
  __shared__ Tiles tiles[kPairs];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  const unsigned steps = (a.width + kTile - 1) / kTile;
  const auto begin_copies = [&](unsigned step) {  // after the last step: an empty group
    if (step < steps) {
      Tiles& to = tiles[step % kPairs];
      begin_copy(&to.a[y][x], a, row, step * kTile + x);
      begin_copy(&to.b[y][x], b, step * kTile + y, column);
    }
    __pipeline_commit();  // what was begun since the last commit is a group
  };

  float sum = 0;
  begin_copies(0);
  begin_copies(1);
  for (unsigned step = 0; step < steps; ++step) {
    // TODO: what has to have happened before this step's tiles are read, and others overwritten?
    // The next step's copies may stay under way.
    __syncthreads();
    __pipeline_wait_prior(2);
    // end of TODO
    begin_copies(step + 2);
    const Tiles& now = tiles[step % kPairs];
    for (unsigned i = 0; i < kTile; ++i) sum += now.a[y][i] * now.b[i][x];
  }
  if (row < c.height && column < c.width) c.at(row, column) = sum;
}
