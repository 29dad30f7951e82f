// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 09, predict, then measure: what goes over the bus, and when.
//
// Put your predictions in place of the -1; change nothing else. The check runs the kernels on
// mapped host memory and counts, and works out the time tables. It says too low or too high, never
// the number.
// Check it: make lab CH=09 EX=3      A hint: make hint CH=09 EX=3
#include "common/common.cuh"

// x is mapped: 1000 words of 4 bytes in the host's memory, from the beginning of a sector. How many
// sectors of 32 bytes do the warps' loads ask for, all requests taken together? A sector that two
// requests ask for counts twice.
constexpr int kSectorsOnce = -1;        // TODO: read_once
constexpr int kSectorsOfPairs = -1;     // TODO: read_pairs
constexpr int kSectorsEveryNinth = -1;  // TODO: read_every_ninth

// How many of them cross the bus? Each block runs on an SM of its own. That SM's L1 keeps what the
// block has read, until the kernel ends. In the L2, which all SMs share, it is not found.
constexpr int kPairsOverTheBus = -1;  // TODO: read_pairs

// One engine copies in, the multiprocessors compute, one engine copies out; each does one thing at
// a time. Starting costs nothing. How many ms until all is done?
constexpr int kOneStream = -1;     // TODO: 12 ms in, 8 ms kernel; 4 chunks, all in one stream
constexpr int kFourStreams = -1;   // TODO: the same, each chunk in a stream of its own
constexpr int kThereAndBack = -1;  // TODO: 6 ms in, 9 ms kernel, 6 ms out; 3 chunks, 3 streams

__global__ void read_once(const unsigned* x, unsigned* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1000) y[i] = x[i];
}

__global__ void read_pairs(const unsigned* x, unsigned* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 999) y[i] = x[i] + x[i + 1];
}

__global__ void read_every_ninth(const unsigned* x, unsigned* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (9 * i < 1000) y[i] = x[9 * i];
}
