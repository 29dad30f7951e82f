// SPDX-License-Identifier: MIT
// Timing with CUDA events: a warm-up, batches of what is too short for the clock, the median with
// minimum and maximum. And the same by the host's clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <vector>

#include "check.cuh"

/// A pair of events around work on one stream. The events live as long as the timer.
class EventTimer {
 public:
  EventTimer() {
    CUDA_CHECK(cudaEventCreate(&begin_));
    CUDA_CHECK(cudaEventCreate(&end_));
  }
  ~EventTimer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;

  void start(cudaStream_t stream = nullptr) { CUDA_CHECK(cudaEventRecord(begin_, stream)); }

  /// Waits for the work since start(); returns its time in milliseconds (resolution about 0.5 us).
  double stop_ms(cudaStream_t stream = nullptr) {
    CUDA_CHECK(cudaEventRecord(end_, stream));
    CUDA_CHECK(cudaEventSynchronize(end_));
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin_, end_));
    return ms;
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// The middle of the sorted values (the mean of the two middle ones when their number is even).
inline double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Times per launch; noise is the samples' standard deviation over their mean.
struct Timing {
  double median_ms = 0, min_ms = 0, max_ms = 0;
  std::size_t samples = 0;
  double noise_percent = 0;
};

inline Timing timing_of(const std::vector<double>& ms) {
  const auto count = static_cast<double>(ms.size());
  const double mean = std::accumulate(ms.begin(), ms.end(), 0.0) / count;
  double squares = 0;
  for (const double value : ms) squares += (value - mean) * (value - mean);
  const double noise = ms.size() < 2 || mean <= 0 ? 0 : std::sqrt(squares / (count - 1)) / mean;
  const auto [least, most] = std::minmax_element(ms.begin(), ms.end());
  return {median_of(ms), *least, *most, ms.size(), 100 * noise};
}

/// `run(calls)` returns the milliseconds of that many calls in a row. One call warms up: it loads
/// the code, fills caches and TLBs. Then the number of calls per sample is doubled until a sample
/// lasts 0.2 ms, so that the clock's resolution and its own cost stay below one per cent.
template <class Run>
Timing time_batches(std::size_t samples, std::size_t most_calls, Run&& run) {
  constexpr double kShortestSampleMs = 0.2;
  run(1);
  std::size_t calls = 1;
  while (calls < most_calls && run(calls) < kShortestSampleMs) calls *= 2;
  std::vector<double> ms;
  while (ms.size() < samples) ms.push_back(run(calls) / static_cast<double>(calls));
  return timing_of(ms);
}

/// Times `launch`, which works on the default stream and finds what the last one left in caches.
template <class Launch>
Timing time_launches(std::size_t samples, Launch&& launch) {
  EventTimer timer;
  return time_batches(samples, kOnGpu ? 1024 : 1, [&](std::size_t launches) {
    timer.start();
    for (std::size_t i = 0; i < launches; ++i) launch();
    return timer.stop_ms();
  });
}

/// Milliseconds by a clock of the host that never jumps. Around a launch it measures the call.
inline double host_ms() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

/// Times `work` by the host's clock. It must leave a result that is used, or an optimiser may drop
/// it; what it starts on a device it has to wait for itself.
template <class Work>
Timing time_on_host(std::size_t samples, Work&& work) {
  return time_batches(samples, 1_Mi, [&](std::size_t calls) {
    const double begin = host_ms();
    for (std::size_t i = 0; i < calls; ++i) {
      work();
      asm volatile("" ::: "memory");  // memory may have changed: the next call cannot be merged
    }
    return host_ms() - begin;
  });
}
