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
  const std::size_t i = threadIdx.x;
  if (i >= n) return;  // the last block may have threads past the end
  blocks[i] = blockIdx.x;
  warps[i] = threadIdx.x / kWarp;  // warps are counted in their block: each block begins a new one
  lanes[i] = threadIdx.x % kWarp;
}

// `block`: threads per block.
void launch_note_places(std::size_t n, unsigned block, unsigned* blocks, unsigned* warps,
                        unsigned* lanes) {
  const auto grid = static_cast<unsigned>(div_up(n, block));
  note_places<<<grid, block>>>(n, blocks, warps, lanes);
  CUDA_CHECK_LAUNCH();
}
