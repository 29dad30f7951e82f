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
  // TODO: one word per thread, any n.
  (void)words, (void)n, (void)round, (void)rounds;
  // end of TODO
}

// Leaves in h_y what mix makes of h_x. Both are pinned and hold n words, as does d_words; n > 0.
// Chunks have `chunk` words each, the last one may have fewer. Chunk number c is copied to its
// place in d_words, mixed and copied to its place in h_y, all in streams[c % streams.size()].
void enqueue_chunks(const unsigned* h_x, unsigned* h_y, unsigned* d_words, std::size_t n,
                    std::size_t chunk, unsigned rounds, const std::vector<cudaStream_t>& streams) {
  // TODO: one loop over the chunks; three things to ask for in each turn.
  (void)h_x, (void)h_y, (void)d_words, (void)n, (void)chunk, (void)rounds, (void)streams;
  // end of TODO
}
