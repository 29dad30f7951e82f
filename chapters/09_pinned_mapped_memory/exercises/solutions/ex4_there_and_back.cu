// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 09, write the kernel: one for chunks, and the loop that feeds it.
//
// While one chunk is copied in, another is mixed and a third is copied out. The function only puts
// the work into the streams and waits for nothing; its caller does.
// Check it: make lab CH=09 EX=4      A hint: make hint CH=09 EX=4
#include <algorithm>
#include <vector>

#include "common/common.cuh"

// One round of work: v becomes v * factor + step, modulo 2^32.
struct Round {
  unsigned factor, step;
  __host__ __device__ unsigned operator()(unsigned v) const { return v * factor + step; }
};
constexpr Round kRound{1664525, 1013904223};

// Every word goes through `rounds` rounds: v = round(v).
__global__ void mix(unsigned* words, std::size_t n, Round round, unsigned rounds) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = words[i];
  for (unsigned r = 0; r < rounds; ++r) v = round(v);
  words[i] = v;
}

// Leaves in h_y what mix makes of h_x. Both are pinned and hold n words, as does d_words; n > 0.
// Chunks have `chunk` words each, the last one may have fewer. Chunk number c is copied to its
// place in d_words, mixed and copied to its place in h_y, all in streams[c % streams.size()].
void enqueue_chunks(const unsigned* h_x, unsigned* h_y, unsigned* d_words, std::size_t n,
                    std::size_t chunk, unsigned rounds, const std::vector<cudaStream_t>& streams) {
  for (std::size_t first = 0, c = 0; first < n; first += chunk, ++c) {
    const std::size_t count = std::min(chunk, n - first), bytes = count * sizeof(unsigned);
    const cudaStream_t stream = streams[c % streams.size()];
    CUDA_CHECK(
        cudaMemcpyAsync(d_words + first, h_x + first, bytes, cudaMemcpyHostToDevice, stream));
    mix<<<static_cast<unsigned>(div_up(count, 256)), 256, 0, stream>>>(d_words + first, count,
                                                                       kRound, rounds);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(
        cudaMemcpyAsync(h_y + first, d_words + first, bytes, cudaMemcpyDeviceToHost, stream));
  }
}
