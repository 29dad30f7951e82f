// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 06, predict, then measure: a table in constant and in shared memory.
//
// Put your predictions in place of the -1; change nothing else. The check runs the kernels and
// counts. It says too low or too high, never the number.
// Check it: make lab CH=06 EX=4      A hint: make hint CH=06 EX=4
#include "common/common.cuh"

constexpr unsigned kWords = 256, kThreads = 64;
__constant__ int table[kWords];

// Per load of a warp: how many requests to the constant cache (from constant memory), how many
// wavefronts through the 32 banks of 4 bytes (from shared memory)?
constexpr double kConstantAtStep1 = 32;  // look_up_constant, step 1
constexpr double kSharedAtStep1 = 1;     // look_up_shared, step 1
constexpr double kConstantAtStep8 = 32;  // look_up_constant, step 8
constexpr double kSharedAtStep8 = 8;     // look_up_shared, step 8
// Requests to the constant cache again; the average, if the warps of a block differ.
constexpr double kConstantRows = 1;    // look_up_rows, a block of dim3(8, 12)
constexpr double kConstantRuns = 1.5;  // look_up_runs, a block of 48 threads

// Thread t looks up word t * step of the table, which begins again after its end.
__global__ void look_up_constant(unsigned step, int* found) {
  const unsigned t = threadIdx.x;
  found[t] = table[t * step % kWords];
}

__global__ void look_up_shared(unsigned step, int* found) {
  __shared__ int words[kWords];
  const unsigned t = threadIdx.x;
  for (unsigned k = t; k < kWords; k += kThreads) words[k] = static_cast<int>(k);
  __syncthreads();
  found[t] = words[t * step % kWords];
}

// A word for each row of the block.
__global__ void look_up_rows(int* found) {
  found[threadIdx.y * blockDim.x + threadIdx.x] = table[threadIdx.y];
}

// A word for 24 threads in a row.
__global__ void look_up_runs(int* found) { found[threadIdx.x] = table[threadIdx.x / 24]; }
