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
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t t = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  unsigned count = 0;
  for (std::size_t i = t; i < n; i += threads) count += x[i] > limit ? 1 : 0;
  counts[t] = count;  // 0 as well: nobody else writes this slot
}

// d_x: n ints in device memory. Launches `blocks` blocks of `block` threads.
std::size_t count_on_device(const int* d_x, std::size_t n, int limit, unsigned blocks,
                            unsigned block) {
  unsigned* d_counts = nullptr;
  std::size_t total = 0;
  const std::size_t threads = std::size_t{blocks} * block;  // one count each
  CUDA_CHECK(cudaMalloc(&d_counts, threads * sizeof(unsigned)));
  count_larger<<<blocks, block>>>(d_x, n, limit, d_counts);
  CUDA_CHECK_LAUNCH();
  std::vector<unsigned> counts(threads);
  CUDA_CHECK(
      cudaMemcpy(counts.data(), d_counts, threads * sizeof(unsigned), cudaMemcpyDeviceToHost));
  for (const unsigned count : counts) total += count;
  CUDA_CHECK(cudaFree(d_counts));
  return total;
}
