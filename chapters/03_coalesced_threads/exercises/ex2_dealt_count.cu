// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 03, write the kernel: count what is dealt like cards.
//
// How many of n ints are larger than a limit? The elements are dealt like cards, so that the lanes
// of a warp read neighbours. With `threads` threads in all blocks together, thread t gets elements
// t, t + threads, t + 2 * threads, ... and leaves in counts[t] how many of them are larger.
// Check it: make lab CH=03 EX=2      A hint: make hint CH=03 EX=2
#include <vector>

#include "common/common.cuh"

__global__ void count_larger(const int* x, std::size_t n, int limit, unsigned* counts) {
  // TODO: which thread is this, how many are there; then the loop.
  (void)x, (void)n, (void)limit, (void)counts;  // not used yet
  // end of TODO
}

// d_x: n ints in device memory. Launches `blocks` blocks of `block` threads.
std::size_t count_on_device(const int* d_x, std::size_t n, int limit, unsigned blocks,
                            unsigned block) {
  unsigned* d_counts = nullptr;
  std::size_t total = 0;
  // TODO: allocate the counts, launch, copy them to a vector, add them up.
  (void)d_x, (void)n, (void)limit, (void)blocks, (void)block;  // not used yet
  // end of TODO
  CUDA_CHECK(cudaFree(d_counts));
  return total;
}
