// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 02, predict, then measure: what one thread asks of the memory.
//
// walk<<<1, 1>>> reads kLoads ints, each `stride` ints after the one before; x begins at a
// multiple of 128 bytes. Put your predictions in place of the -1; change nothing else. The check
// says too low or too high, never the number.
// Check it: make lab CH=02 EX=4      A hint: make hint CH=02 EX=4
#include "common/common.cuh"

constexpr unsigned kLoads = 200;

// A request is one load, executed by a warp. How many are there, and how many of the warp's 32
// lanes take part in each? How many sectors of 32 bytes do they ask for, request by request?
constexpr int kRequests = -1;      // TODO: of the whole walk
constexpr int kLanes = -1;         // TODO: in each request
constexpr int kSectorsAsked = -1;  // TODO: of the whole walk, at stride 1

// The L1 cache is empty at first, and large enough to keep everything that is fetched. How many of
// the loads miss?
constexpr int kMissesAt1 = -1;         // TODO: stride 1, a miss fetches a sector of 32 bytes
constexpr int kMissesAt3 = -1;         // TODO: stride 3, a miss fetches a sector of 32 bytes
constexpr int kMissesAt20 = -1;        // TODO: stride 20, a miss fetches a sector of 32 bytes
constexpr int kMissesAt20ByLine = -1;  // TODO: stride 20, a miss fetches a line of 128 bytes

// A load that hits takes 50 cycles, one that misses 250; each waits for the one before.
constexpr int kCyclesAt3 = -1;  // TODO: the whole walk, stride 3, by sectors

__global__ void walk(const int* x, unsigned stride, long long* sum) {
  long long result = 0;
  for (unsigned i = 0; i < kLoads; ++i) result += x[i * stride];
  *sum = result;
}
