// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 04, write the kernel: a dot product, in one wave of blocks.
//
// In a grid of T threads, thread g adds up x[i] * y[i] for i = g, g + T, g + 2 * T, ... and leaves
// the sum in partial[g]; a thread without elements leaves 0. The values reach 100,000 and -100,000:
// an int does not hold their products.
// Check it: make lab CH=04 EX=3      A hint: make hint CH=04 EX=3
#include "common/common.cuh"

__global__ void dot_of_share(const int* x, const int* y, std::size_t n, long long* partial) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  const std::size_t g = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  long long sum = 0;
  for (std::size_t i = g; i < n; i += stride) sum += static_cast<long long>(x[i]) * y[i];
  partial[g] = sum;
}

// One wave: as many blocks of `block` threads as the whole device holds at once. But no more blocks
// than n elements need, with one element per thread, and at least one block.
unsigned blocks_of_one_wave(std::size_t n, unsigned block) {
  int per_sm = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, dot_of_share,
                                                           static_cast<int>(block), 0));
  const int sms = device_attribute(cudaDevAttrMultiProcessorCount, 0);
  const std::size_t wave = static_cast<std::size_t>(per_sm) * static_cast<std::size_t>(sms);
  const std::size_t needed = n == 0 ? 1 : div_up(n, block);
  return static_cast<unsigned>(needed < wave ? needed : wave);
}

// Returns how many blocks were launched: blocks * block places of `partial` are written.
unsigned launch_dot(const int* x, const int* y, std::size_t n, long long* partial, unsigned block) {
  const unsigned blocks = blocks_of_one_wave(n, block);
  dot_of_share<<<blocks, block>>>(x, y, n, partial);
  CUDA_CHECK_LAUNCH();
  return blocks;
}
