// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 09, fix the bug: a buffer that is filled again too early.
//
// Sends n words to the device chunk by chunk, through one small pinned buffer, and mixes them
// there. fill(to, first, count) writes the words first, first + 1, ... of the data to `to`.
// The host may not wait for more than it has to: while it fills a chunk, the kernel of the chunk
// before goes on.
// Check it: make lab CH=09 EX=2      A hint: make hint CH=09 EX=2
#include <algorithm>
#include <functional>

#include "common/common.cuh"

// One round of work: v becomes v * factor + step, modulo 2^32.
struct Round {
  unsigned factor, step;
  __host__ __device__ unsigned operator()(unsigned v) const { return v * factor + step; }
};
constexpr Round kRound{1664525, 1013904223};

using Fill = std::function<void(unsigned* to, std::size_t first, std::size_t count)>;

// Slow on purpose: `rounds` rounds for each word.
__global__ void mix(unsigned* words, std::size_t n, Round round, unsigned rounds) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = words[i];
  for (unsigned r = 0; r < rounds; ++r) v = round(v);
  words[i] = v;
}

// `buffer` is pinned and has room for a chunk, d_words for n words.
void send_and_mix(const Fill& fill, std::size_t n, std::size_t chunk, unsigned* buffer,
                  unsigned* d_words, unsigned rounds, cudaStream_t stream) {
  cudaEvent_t copied;  // for you; waiting for an event that was never recorded takes no time
  CUDA_CHECK(cudaEventCreate(&copied));
  for (std::size_t first = 0; first < n; first += chunk) {
    const std::size_t count = std::min(chunk, n - first);
    const auto blocks = static_cast<unsigned>(div_up(count, 256));
    CUDA_CHECK(cudaEventSynchronize(copied));  // the copy of the chunk before has read the buffer
    fill(buffer, first, count);
    CUDA_CHECK(cudaMemcpyAsync(d_words + first, buffer, count * sizeof(unsigned),
                               cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaEventRecord(copied, stream));
    mix<<<blocks, 256, 0, stream>>>(d_words + first, count, kRound, rounds);
    CUDA_CHECK_LAUNCH();
  }
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaEventDestroy(copied));
}
