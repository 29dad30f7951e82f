// SPDX-License-Identifier: MIT
// Timing with CUDA events: warm-up, batches for what is too short for the clock, median with min
// and max.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "backend.cuh"
#include "check.cuh"

/// Times of one version, per launch.
struct Timing {
  double median_ms = 0, min_ms = 0, max_ms = 0;
  std::size_t samples = 0;
  std::size_t launches_per_sample = 1;  ///< more than one when a launch is too short for the clock
};

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

/// Median, minimum and maximum of the times (per launch) of the samples.
inline Timing timing_of(const std::vector<double>& ms, std::size_t launches_per_sample = 1) {
  const auto range = std::minmax_element(ms.begin(), ms.end());
  return {median_of(ms), *range.first, *range.second, ms.size(), launches_per_sample};
}

/// Calls `launch` (which puts work on the default stream) until `samples` times are known. One call
/// warms up; then the number of calls per sample is doubled until a sample lasts 0.2 ms, so that
/// the clock's resolution and the cost of the events stay below one per cent.
template <class Launch>
Timing time_launches(std::size_t samples, Launch&& launch) {
  constexpr double kShortestSampleMs = 0.2;
  constexpr std::size_t kMostLaunches = 1024;
  EventTimer timer;
  const auto run = [&](std::size_t launches) {
    timer.start();
    for (std::size_t i = 0; i < launches; ++i) launch();
    return timer.stop_ms();
  };

  run(1);  // warm-up: loads the code, fills caches and TLBs
  std::size_t launches = 1;
  while (kOnGpu && launches < kMostLaunches && run(launches) < kShortestSampleMs) launches *= 2;

  std::vector<double> times;
  for (std::size_t i = 0; i < samples; ++i) {
    times.push_back(run(launches) / static_cast<double>(launches));
  }
  return timing_of(times, launches);
}
