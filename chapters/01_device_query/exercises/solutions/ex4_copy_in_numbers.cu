// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 01, predict, then measure: a copy in numbers.
//
// copy_words copies 1000 words of 16 bytes, in the fewest blocks of 150 threads that do; copy_ints
// copies the same bytes, 4 at a time. Put your predictions in place of the -1; change nothing
// else. The check says too low or too high, never the number.
// Check it: make lab CH=01 EX=4      A hint: make hint CH=01 EX=4
#include "common/common.cuh"

constexpr std::size_t kWords = 1000;  // of 16 bytes
constexpr unsigned kThreads = 150;    // per block
constexpr std::size_t kInts = 4 * kWords;

constexpr int kBlocks = 7;         // of copy_words
constexpr int kWarps = 35;         // of copy_words, in all blocks; a warp does not cross blocks
constexpr int kRequests = 34;      // loads of copy_words: one for each warp with a word to copy
constexpr int kIntRequests = 134;  // loads of copy_ints, counted likewise

// How many sectors of 32 bytes does one load of a warp of block 0 touch?
constexpr int kSectorsOf32Lanes = 16;    // copy_words, all lanes have a word
constexpr int kSectorsOf22Lanes = 11;    // copy_words, lanes 0 to 21 have a word
constexpr int kSectorsOf32IntLanes = 4;  // copy_ints, all lanes have an int

// A device has 100 SMs with 64 FP32 cores each, at 1.5 GHz; memory at 1 GHz on a bus of 3072 bits.
constexpr int kGigabytesPerSecond = 768;  // peak of the memory, 1e9 bytes per second
constexpr int kGigaflops = 19200;         // peak of the cores, a multiply-add counts as two
constexpr int kOperationsPerFloat = 100;  // while the memory delivers one float

__global__ void copy_words(const uint4* from, uint4* to, std::size_t n) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

__global__ void copy_ints(const int* from, int* to, std::size_t n) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}
