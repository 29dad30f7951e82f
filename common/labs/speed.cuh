// SPDX-License-Identifier: MIT
// For labs that ask for speed as well, where there is a GPU: a share of what the same device
// reaches by another way in the same run. So the demand is the same for every GPU, and nobody else
// who uses it at the time fools the check for long. A check that includes this is run twice with
// BACKEND=gpu: on the CPU backend, which counts, and then on the GPU, which is timed. Behind its
// trials, in the same test case:
//
//   lab::on_a_gpu([] {
//     ... data of lab::kSpeedBytes, `launch`, `results` ...
//     lab::reach({40, lab::read_bound(), lab::kSpeedBytes / 1e9, "GB/s"}, launch, results); });
//
// and at its top a line with wrong solutions that are right and too slow, for check-labs on a GPU:
//
//   // TOO SLOW: one_thread_per_row, ...
#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include "channel.h"
#include "testing.cuh"

namespace lab {

/// Of the data that is walked through: more than an L2 cache holds.
constexpr std::size_t kSpeedBytes = 256_Mi;

/// What a rate is compared with.
struct Bound {
  std::string name;
  double rate;  ///< in the unit of the speed; 0: not known for this device
};

inline Device this_device() {
  int ordinal = 0;
  CUDA_CHECK(cudaGetDevice(&ordinal));
  return describe_device(ordinal);
}

/// A read of as many bytes, by the chapters' yardstick, measured now (GB/s).
inline Bound read_bound() { return {"what a plain read reaches", measured_read_gbps(kSpeedBytes)}; }

/// The peak of the FP32 arithmetic (GFLOP/s): cores, times clock, times two.
inline Bound fp32_bound() {
  return {"the peak of the arithmetic", peak_fp32_gflops(this_device())};
}

/// The goal of a lab, as a share of a bound.
struct SpeedGoal {
  double percent;
  Bound bound;
  double work;  ///< of one launch, in billions: 1e9 bytes, 1e9 operations
  const char* unit;
};

/// "2572 GB/s, 57 % of what a plain read reaches (4476 GB/s)"
inline std::string speed_text(double rate, const SpeedGoal& goal) {
  char text[200];
  std::snprintf(text, sizeof text, "%.0f %s, %.1f %% of %s (%.0f %s)", rate, goal.unit,
                100 * rate / goal.bound.rate, goal.bound.name.c_str(), goal.bound.rate, goal.unit);
  return text;
}

/// A launch of that many milliseconds must reach its goal. What it reached is told either way.
inline void judge_speed(double ms, const SpeedGoal& goal) {
  if (!(goal.bound.rate > 0)) {
    return tell("speed", "not judged: " + goal.bound.name + " is not known for this device");
  }
  const double rate = goal.work / ms * 1e3;
  const std::string reached = speed_text(rate, goal);
  const std::string wanted = "at least " + text_of(goal.percent) + " %";
  tell("speed", reached + "; " + wanted + " asked for");
  if (rate >= goal.percent / 100 * goal.bound.rate) return;
  throw Wrong{"speed", wanted + " of " + goal.bound.name, reached,
              "the median of several launches, compared with the same GPU in the same run", true};
}

/// Runs `attempt`, as a single trial, on a GPU that is not slowed down by a tool.
inline void on_a_gpu(const std::function<void()>& attempt) {
  if (kOnGpu && !small_sizes()) once(attempt);
}

/// `launch` once for its results, then timed, and `results` once more: the launches that were timed
/// did the same work.
template <class Launch>
void reach(const SpeedGoal& goal, Launch launch, const std::function<void()>& results) {
  constexpr std::size_t kSamples = 11;
  launch();
  results();
  const Timing timing = time_launches(kSamples, launch);
  results();
  judge_speed(timing.median_ms, goal);
}

}  // namespace lab
