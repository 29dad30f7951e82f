// SPDX-License-Identifier: MIT
// A GPU's clock and the number of an SM. C++ has no name for these special registers: inline PTX.
// And a check on the host of what the clocks said.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "check.cuh"

/// Nanoseconds of a clock that all multiprocessors share (PTX %globaltimer). It ticks coarsely:
/// about a microsecond on many GPUs. Unlike clock64(), which counts the cycles of one
/// multiprocessor, its values may be compared between blocks.
__device__ inline std::uint64_t global_timer_ns() {
#ifdef __CUDA_CPU__
  return cuda_cpu::global_timer_ns();
#else
  std::uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
#endif
}

/// The multiprocessor that the calling thread runs on (PTX %smid), from 0.
__device__ inline unsigned sm_id() {
#ifdef __CUDA_CPU__
  return cuda_cpu::sm_id();
#else
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
#endif
}

/// Cycles and nanoseconds that pass while one thread waits for `cycles` of its multiprocessor.
struct ClockReading {
  long long cycles;
  std::uint64_t ns;
};

static __global__ void read_both_clocks(long long cycles, ClockReading* reading) {
  const long long first_cycle = clock64();
  const std::uint64_t first_ns = global_timer_ns();
  long long passed = 0;
  while (passed < cycles) passed = clock64() - first_cycle;
  *reading = {passed, global_timer_ns() - first_ns};
}

/// The clock of a multiprocessor right now, in MHz, by both of its clocks over half a million
/// cycles (a quarter of a millisecond). It follows the load within milliseconds: call it right
/// after the work it shall stand for.
inline double sm_clock_mhz() {
  ClockReading* d_reading = nullptr;
  CUDA_CHECK(cudaMalloc(&d_reading, sizeof(ClockReading)));
  read_both_clocks<<<1, 1>>>(500000, d_reading);
  CUDA_CHECK_LAUNCH();
  ClockReading reading{};
  CUDA_CHECK(cudaMemcpy(&reading, d_reading, sizeof reading, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(d_reading));
  return reading.ns == 0 ? 0 : 1e3 * static_cast<double>(reading.cycles) / reading.ns;
}

/// Whether a count of cycles can be true of work that took `ms` by events: more than none, and no
/// more than a clock of 10 GHz makes in that time. Seen to be false for a difference with the wrong
/// sign, for a sum, and for a single reading: all of those are far off.
inline bool cycles_fit(double cycles, double ms) {
  constexpr double kMostPerMs = 1e7;
  return cycles > 0 && cycles <= kMostPerMs * ms;
}
