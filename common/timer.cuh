// SPDX-License-Identifier: MIT
// Timing with CUDA events: warm-up, batches for what is too short for the clock, median with min
// and max.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "backend.cuh"
#include "check.cuh"
#include "device_clock.cuh"

/// Times of one version, per launch.
struct Timing {
  double median_ms = 0, min_ms = 0, max_ms = 0;
  std::size_t samples = 0;
  std::size_t launches_per_sample = 1;  ///< more than one when a launch is too short for the clock
  double noise_percent = 0;             ///< standard deviation of the samples over their mean
  double sm_mhz = 0;  ///< clock of a multiprocessor right after the last sample; 0: not measured
};

/// How often a version is timed, and what its launches find in the L2.
struct Samples {
  std::size_t count;
  bool cold;  ///< the L2 holds none of the launch's data; otherwise what the launch before left

  Samples(std::size_t samples, bool cold_l2 = false) : count(samples), cold(cold_l2) {}
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

/// Standard deviation of the values over their mean, in per cent; of one value: 0.
inline double noise_percent(const std::vector<double>& values) {
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return values.size() < 2 || mean <= 0 ? 0 : 100 * std::sqrt(squares / (count - 1)) / mean;
}

/// Median, minimum, maximum and noise of the times (per launch) of the samples.
inline Timing timing_of(const std::vector<double>& ms, std::size_t launches_per_sample = 1) {
  const auto range = std::minmax_element(ms.begin(), ms.end());
  return {median_of(ms),
          *range.first,
          *range.second,
          ms.size(),
          launches_per_sample,
          noise_percent(ms),
          0};
}

/// Device memory as large as two L2 caches. Overwriting it drives everything else out of the L2.
class L2Flush {
 public:
  L2Flush() {
    int device = 0, l2_bytes = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
    bytes_ = 2 * static_cast<std::size_t>(l2_bytes);
    CUDA_CHECK(cudaMalloc(&scratch_, bytes_));
  }
  ~L2Flush() { cudaFree(scratch_); }
  L2Flush(const L2Flush&) = delete;
  L2Flush& operator=(const L2Flush&) = delete;

  /// Puts the overwriting on the default stream.
  void operator()() const { CUDA_CHECK(cudaMemsetAsync(scratch_, 0, bytes_)); }

 private:
  void* scratch_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Times launches with the L2 flushed before each: one launch per sample, so that times under about
/// 20 us hold one or two microseconds of the events themselves.
template <class Launch>
Timing time_cold_launches(std::size_t samples, Launch&& launch) {
  const L2Flush flush;
  EventTimer timer;
  std::vector<double> times;
  for (std::size_t i = 0; i <= samples; ++i) {
    flush();
    timer.start();
    launch();
    const double ms = timer.stop_ms();
    if (i > 0) times.push_back(ms);  // the first call warms up: it loads the code
  }
  return timing_of(times);
}

/// Times launches that find in the L2 what the one before left. One call warms up; then the number
/// of calls per sample is doubled until a sample lasts 0.2 ms, so that the clock's resolution and
/// the cost of the events stay below one per cent.
template <class Launch>
Timing time_hot_launches(std::size_t samples, Launch&& launch) {
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

/// Calls `launch` (which puts work on the default stream) until `samples` times are known, then
/// reads the clock that the multiprocessors ended at.
template <class Launch>
Timing time_launches(Samples samples, Launch&& launch) {
  Timing t = samples.cold ? time_cold_launches(samples.count, launch)
                          : time_hot_launches(samples.count, launch);
  t.sm_mhz = kOnGpu ? sm_clock_mhz() : 0;
  return t;
}
