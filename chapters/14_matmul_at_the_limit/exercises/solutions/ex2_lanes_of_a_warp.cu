// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 14, predict, then measure: how the lanes of a warp lie.
//
// Put your predictions in place of the -1; change nothing else. The check runs the kernels and
// counts. It says too low or too high, never the number.
// Check it: make lab CH=14 EX=2      A hint: make hint CH=14 EX=2
#include "common/common.cuh"

// A warp computes a part of C in which each lane has 4 x 4 elements. At each k it reads a column of
// A, stored as a row, and a row of B, four floats per lane each. A read of 16 bytes is served in
// four parts, of 8 lanes each; in two parts of 16 lanes, if each lane wants what the lane beside it
// wants, or each what the lane two further on wants.

// How many floats does a warp read at one k, each counted once? And how many wavefronts do both
// reads take together?
constexpr int kFloatsOfRows = 72;       // lanes lie 2 x 16: read_rows
constexpr int kFloatsOfSquare = 48;     // lanes lie 8 x 4: read_square
constexpr int kWavefrontsOfRows = 6;    // lanes 0 to 15 beside each other, below them 16 to 31
constexpr int kWavefrontsOfSquare = 6;  // rows of four lanes
constexpr int kWavefrontsOfPairs = 4;   // 8 x 4 again, placed as read_pairs says
constexpr int kWavefrontsByWords = 8;   // read_words: 2 x 16, eight reads of 4 bytes each

__device__ float4 four_of(const float* from) { return *reinterpret_cast<const float4*>(from); }

__device__ float read(unsigned down, unsigned across) {
  __shared__ alignas(16) float a[128], b[128];
  for (unsigned i = threadIdx.x; i < 128; i += 32) a[i] = b[i] = 1;
  __syncwarp();
  const float4 from_a = four_of(&a[4 * down]), from_b = four_of(&b[4 * across]);
  return from_a.x * from_b.x + from_a.y * from_b.y + from_a.z * from_b.z + from_a.w * from_b.w;
}

__global__ void read_rows(float* out) {
  out[threadIdx.x] = read(threadIdx.x / 16, threadIdx.x % 16);
}

__global__ void read_square(float* out) {
  out[threadIdx.x] = read(threadIdx.x / 4, threadIdx.x % 4);
}

// The lowest bit of the lane counts across, the next one down, then across, and the rest down.
__global__ void read_pairs(float* out) {
  const unsigned lane = threadIdx.x;
  out[lane] = read(lane / 2 % 2 + lane / 8 * 2, lane % 2 + lane / 4 % 2 * 2);
}

// Rows and columns of a lane are 2 and 16 apart, so that no two of its elements are neighbours.
__global__ void read_words(float* out) {
  __shared__ float a[128], b[128];
  for (unsigned i = threadIdx.x; i < 128; i += 32) a[i] = b[i] = 1;
  __syncwarp();
  float sum = 0;
  for (unsigned i = 0; i < 4; ++i)
    sum += a[threadIdx.x / 16 + 2 * i] * b[threadIdx.x % 16 + 16 * i];
  out[threadIdx.x] = sum;
}
