// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 01, write the kernel: who am I?
//
// n threads (n is at least 1), in as many blocks as it takes, write down where they are. Thread i,
// counted from 0 through all blocks, writes to element i of three arrays: the number of its block,
// the number of its warp in that block, and its lane in that warp, all from 0. A block may have any
// number of threads; when it is no multiple of 32, the last warp has fewer lanes.
// Check it: make lab CH=01 EX=3      A hint: make hint CH=01 EX=3
#include "common/common.cuh"

constexpr unsigned kWarp = 32;  // lanes of a warp

__global__ void note_places(std::size_t n, unsigned* blocks, unsigned* warps, unsigned* lanes) {
  // TODO: every thread with a number below n writes its three values.
  (void)n, (void)blocks, (void)warps, (void)lanes;
  // end of TODO
}

// `block`: threads per block.
void launch_note_places(std::size_t n, unsigned block, unsigned* blocks, unsigned* warps,
                        unsigned* lanes) {
  // TODO: how many blocks does it take? Launch them.
  (void)n, (void)block, (void)blocks, (void)warps, (void)lanes;
  // end of TODO
  CUDA_CHECK_LAUNCH();
}
