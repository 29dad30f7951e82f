// SPDX-License-Identifier: MIT
// Chapter 09, the default stream's silent waits: three kernels that have nothing to do with each
// other, and the streams they are put into. Included by pinned_mapped_memory.cu.
#pragma once

#include <algorithm>

#include "../../common/common.cuh"

// Each kernel has a third of the words: 32 blocks, for which few of the device's SMs are enough.
// All three could run side by side.
constexpr std::size_t kThirdsWords = 24_Ki;
constexpr unsigned kThirdsRounds = kOnGpu ? 64_Ki : 16;  // 0.15 ms: longer than three launches

void run_thirds(const Transfer& t, cudaStream_t first, cudaStream_t second, cudaStream_t third) {
  const cudaStream_t streams[] = {first, second, third};
  const std::size_t words = div_up(t.n, std::size_t{3});
  for (std::size_t k = 0, begin = 0; begin < t.n; ++k, begin += words) {
    const std::size_t count = std::min(words, t.n - begin);
    const auto grid = static_cast<unsigned>(div_up(count, kBlock));
    if (t.timeline != nullptr) t.timeline->mark(k, k, "begin", streams[k]);
    mix<<<grid, kBlock, 0, streams[k]>>>(t.d_data + begin, count, kRound, t.rounds, true,
                                         t.d_y + begin);
    CUDA_CHECK_LAUNCH();
    if (t.timeline != nullptr) t.timeline->mark(k, k, "computed", streams[k]);
  }
}

void default_three_times(const Transfer& t) { run_thirds(t, nullptr, nullptr, nullptr); }
// Streams from cudaStreamCreate: the default stream waits for them, and they wait for it.
void default_between(const Transfer& t) { run_thirds(t, t.blocking[0], nullptr, t.blocking[1]); }
// With cudaStreamNonBlocking neither waits for the other.
void default_beside(const Transfer& t) {
  run_thirds(t, t.nonblocking[0], nullptr, t.nonblocking[1]);
}
// Each thread of the host has a default stream of its own, too, which waits for none of these.
void per_thread_beside(const Transfer& t) {
  run_thirds(t, t.blocking[0], cudaStreamPerThread, t.blocking[1]);
}
