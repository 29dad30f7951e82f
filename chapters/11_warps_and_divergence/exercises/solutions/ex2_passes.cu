// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 11, predict, then measure: how often does a warp go through a branch?
//
// Put your predictions in place of the -1; change nothing else. The check runs the kernels and
// counts. It says too low or too high, never the number. A pass is one warp that executes one
// statement once, with as many of its lanes as are there: 32 at best.
// Check it: make lab CH=11 EX=2      A hint: make hint CH=11 EX=2
#include "common/common.cuh"

constexpr unsigned kThreads = 64, kAllLanes = 0xffffffffu;  // one block of two warps

// four_paths: how many passes do the four stores take, both warps together?
constexpr int kEveryLane = 8;     // width 1: each lane another path than its neighbours
constexpr int kEverySixteen = 4;  // width 16
constexpr int kEveryWarp = 2;     // width 32
// odd_lengths: passes of the load in the loop, both warps together, and its lanes in all of them
constexpr int kPassesOfLoop = 14;
constexpr int kLanesOfLoop = 224;
// until_any, until_all: passes of the load for warp 0 and warp 1 together
constexpr int kUntilAny = 10;
constexpr int kUntilAll = 16;

__global__ void four_paths(unsigned width, int* out) {
  const unsigned t = threadIdx.x;
  switch (t / width % 4) {
    case 0:
      out[t] = 1;
      break;
    case 1:
      out[kThreads + t] = 10;
      break;
    case 2:
      out[2 * kThreads + t] = 100;
      break;
    default:
      out[3 * kThreads + t] = 1000;
  }
}

// Thread t goes round t % 8 times: 0, 1, ... 7, 0, 1, ...
__global__ void odd_lengths(const int* x, int* out) {
  int sum = 0;
  for (unsigned k = 0; k < threadIdx.x % 8; ++k) sum += x[k * kThreads + threadIdx.x];
  out[threadIdx.x] = sum;
}

// Thread t has what it wants after 3 + t / 8 loads: 3 in lanes 0 to 7 of warp 0, 10 at the end of
// warp 1. All lanes of a warp stay in the loop until one of them has it, or until all have it.
template <bool kAll>
__global__ void until(const int* x, int* out) {
  const unsigned wanted = 3 + threadIdx.x / 8;
  int sum = 0;
  for (unsigned loads = 0;; ++loads) {
    const bool done = loads >= wanted;
    if (kAll ? __all_sync(kAllLanes, done) != 0 : __any_sync(kAllLanes, done) != 0) break;
    sum += x[loads * kThreads + threadIdx.x];
  }
  out[threadIdx.x] = sum;
}
