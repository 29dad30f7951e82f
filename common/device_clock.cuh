// SPDX-License-Identifier: MIT
// A GPU's clock and the number of an SM. C++ has no name for these special registers: inline PTX.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

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
