// SPDX-License-Identifier: MIT
// Timing what the host itself does. For work on a device see timer.cuh: a host clock around a
// launch measures the launch call, not the kernel.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "timer.cuh"

/// Milliseconds since some fixed moment, by a clock that never jumps.
inline double host_ms() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

/// Times one call: for what cannot be repeated, such as a program's first use of the runtime.
template <class Work>
Timing time_once(Work&& work) {
  const double begin = host_ms();
  work();
  const double ms = host_ms() - begin;
  return {ms, ms, ms, 1, 1};
}

/// Calls `work` until `samples` times are known: one call warms up, then the number of calls per
/// sample is doubled until a sample lasts 0.2 ms. `work` must leave its result where it is used
/// later, or an optimiser may drop it.
template <class Work>
Timing time_on_host(std::size_t samples, Work&& work) {
  constexpr double kShortestSampleMs = 0.2;
  const auto run = [&](std::size_t calls) {
    const double begin = host_ms();
    for (std::size_t i = 0; i < calls; ++i) {
      work();
      asm volatile("" ::: "memory");  // memory may have changed: the next call cannot be merged
    }
    return host_ms() - begin;
  };

  run(1);
  std::size_t calls = 1;
  while (run(calls) < kShortestSampleMs) calls *= 2;

  std::vector<double> times;
  for (std::size_t i = 0; i < samples; ++i)
    times.push_back(run(calls) / static_cast<double>(calls));
  const auto range = std::minmax_element(times.begin(), times.end());
  return {median_of(times), *range.first, *range.second, samples, calls};
}

/// Times work that the host starts on the device, from the call until it is done.
template <class Work>
Timing time_until_done(std::size_t samples, Work&& work) {
  return time_on_host(samples, [&] {
    work();
    CUDA_CHECK(cudaDeviceSynchronize());
  });
}

/// Times only the call. The work that it starts on the device is waited for while the clock stands.
/// One call warms up.
template <class Call>
Timing time_calls(std::size_t samples, Call&& call) {
  std::vector<double> times;
  for (std::size_t i = 0; i <= samples; ++i) {
    const double ms = time_once(call).median_ms;
    CUDA_CHECK(cudaDeviceSynchronize());
    if (i > 0) times.push_back(ms);
  }
  return timing_of(times);
}
