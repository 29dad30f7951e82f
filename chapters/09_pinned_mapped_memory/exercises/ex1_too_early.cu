// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 09, fix the bug: a result that is read before it is there.
//
// Sends n words to the device, mixes them there, fetches them back and adds them up on the host.
// All calls are right, but one of them stands in the wrong place.
// Check it: make lab CH=09 EX=1      A hint: make hint CH=09 EX=1
#include "common/common.cuh"

// One round of work: v becomes v * factor + step, modulo 2^32.
struct Round {
  unsigned factor, step;
  __host__ __device__ unsigned operator()(unsigned v) const { return v * factor + step; }
};
constexpr Round kRound{1664525, 1013904223};

// Slow on purpose: `rounds` rounds for each word.
__global__ void mix(unsigned* words, std::size_t n, Round round, unsigned rounds) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = words[i];
  for (unsigned r = 0; r < rounds; ++r) v = round(v);
  words[i] = v;
}

// Returns the sum of the mixed words. h_x and h_y are pinned and hold n words, as does d_words.
unsigned long long mix_and_add(const unsigned* h_x, unsigned* h_y, unsigned* d_words, std::size_t n,
                               unsigned rounds, cudaStream_t stream) {
  const std::size_t bytes = n * sizeof(unsigned);
  unsigned long long sum = 0;
  // TODO: from here to the end mark the order is wrong.
  CUDA_CHECK(cudaMemcpyAsync(d_words, h_x, bytes, cudaMemcpyHostToDevice, stream));
  mix<<<static_cast<unsigned>(div_up(n, 256)), 256, 0, stream>>>(d_words, n, kRound, rounds);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpyAsync(h_y, d_words, bytes, cudaMemcpyDeviceToHost, stream));
  for (std::size_t i = 0; i < n; ++i) sum += h_y[i];
  CUDA_CHECK(cudaStreamSynchronize(stream));
  // end of TODO
  return sum;
}
