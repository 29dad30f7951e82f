// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 03, predict, then measure: the sectors that a warp touches.
//
// Each kernel below is launched with one warp, <<<1, 32>>>; every array begins at a multiple of 128
// bytes. A sector has 32 bytes. Put your predictions in place of the -1; change nothing else. The
// check says too low or too high, never the number.
// Check it: make lab CH=03 EX=3      A hint: make hint CH=03 EX=3
#include "common/common.cuh"

struct Point {
  int x, y, z;  // 12 bytes
};

// How many sectors does the warp touch with its one load?
constexpr int kBackwards = 4;  // backwards
constexpr int kOffset5 = 5;    // offset_5
constexpr int kDoubles = 8;    // doubles
constexpr int kPoints = 12;    // points
constexpr int kTail = 2;       // tail: only 13 lanes have an element
constexpr int kTwoRows = 5;    // two_rows: 16 elements of each, the rows are 20 ints long
// How many sectors does it ask for in all rounds of the loop together?
constexpr int kChunked = 24;  // chunked
constexpr int kDealt = 24;    // dealt

__global__ void backwards(const int* x, int* y) { y[threadIdx.x] = x[31 - threadIdx.x]; }
__global__ void offset_5(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x + 5]; }
__global__ void doubles(const double* x, double* y) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void points(const Point* p, int* y) { y[threadIdx.x] = p[threadIdx.x].y; }
__global__ void tail(const int* x, int* y) {
  if (threadIdx.x < 13) y[threadIdx.x] = x[threadIdx.x];
}
__global__ void two_rows(const int* x, int* y) {
  const unsigned row = threadIdx.x / 16, column = threadIdx.x % 16;
  y[threadIdx.x] = x[row * 20 + column];
}

constexpr unsigned kRounds = 6;  // elements per thread
__global__ void chunked(const int* x, int* y) {
  int sum = 0;
  for (unsigned k = 0; k < kRounds; ++k) sum += x[threadIdx.x * kRounds + k];
  y[threadIdx.x] = sum;
}
__global__ void dealt(const int* x, int* y) {
  int sum = 0;
  for (unsigned k = 0; k < kRounds; ++k) sum += x[k * 32 + threadIdx.x];
  y[threadIdx.x] = sum;
}
