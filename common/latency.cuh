// SPDX-License-Identifier: MIT
// How long one load takes when nothing else is going on: the memory's latency, measured.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <vector>

#include "backend.cuh"
#include "check.cuh"
#include "device_array.cuh"
#include "timer.cuh"
#include "verify.cuh"

/// One thread; each load brings the address of the next, so that nothing can overlap: the time per
/// load is the latency.
static __global__ void follow_links(const unsigned* next, unsigned* position, std::size_t loads) {
  unsigned at = *position;
  for (std::size_t k = 0; k < loads; ++k) at = next[at];
  *position = at;  // the next launch goes on from here
}

/// A latency: the time per load, and whether the walk ended where it had to.
struct Latency {
  Timing per_load;
  bool ok = false;
  double ns() const { return per_load.median_ms * 1e6; }
};

/// The ring that no cache holds, for measure_latency().
constexpr std::size_t kRingInMemory = kOnGpu ? 256_Mi : 8_Mi;

/// Follows a ring of links, one in every 128-byte line, that takes up `bytes` (a power of two, at
/// least 128). A ring that fits a cache gives that cache's latency. One larger than all caches
/// gives the memory's: each launch goes on where the last ended, so that it meets only new lines.
inline Latency measure_latency(std::size_t bytes, std::size_t samples) {
  constexpr std::size_t kStep = 128 / sizeof(unsigned);
  const std::size_t count = bytes / sizeof(unsigned), loads = kOnGpu ? 64_Ki : 1_Ki;
  std::vector<unsigned> next(count);
  for (std::size_t i = 0; i < count; ++i) next[i] = static_cast<unsigned>((i + kStep) % count);
  const DeviceArray<unsigned> d_next(next), d_position(std::vector<unsigned>{0});

  std::size_t followed = 0;
  Timing t = time_launches(samples, [&] {
    follow_links<<<1, 1>>>(d_next.get(), d_position.get(), loads);
    CUDA_CHECK_LAUNCH();
    followed += loads;
  });
  for (double* ms : {&t.median_ms, &t.min_ms, &t.max_ms}) *ms /= static_cast<double>(loads);
  const std::size_t position = d_position.download()[0];
  return {t, equals("links", position, followed * kStep % count)};
}
