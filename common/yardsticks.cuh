// SPDX-License-Identifier: MIT
// What versions are compared with: the peak of the arithmetic, the speed of reading and copying
// device memory. And the clocks of a device.
#pragma once

#include "device.cuh"
#include "memory.cuh"
#include "timer.cuh"

/// FP32 cores per multiprocessor, by compute capability (CUDA C++ Programming Guide, "Throughput of
/// Native Arithmetic Instructions"). 0 for one that is not in this table: it is never guessed.
inline int fp32_cores_per_sm(int major, int minor) {
  for (const int with_64 : {60, 70, 72, 75, 80})
    if (with_64 == 10 * major + minor) return 64;
  for (const int with_128 : {50, 52, 53, 61, 62, 86, 87, 89, 90, 100, 103, 110, 120, 121})
    if (with_128 == 10 * major + minor) return 128;
  return 0;
}

/// Peak FP32 rate in GFLOP/s: SMs x cores x 2 (a fused multiply-add is two) x clock. 0: unknown.
inline double peak_fp32_gflops(const Device& d) {
  return 2e3 * d.multiProcessorCount * fp32_cores_per_sm(d.major, d.minor) * d.core_khz / 1e9;
}

/// Nanoseconds of a clock that all multiprocessors share (PTX %globaltimer; C++ has no name for
/// it). On an H200 it ticks every 32 ns. Unlike clock64(), which counts the cycles of one
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

/// Waits for `cycles` of the multiprocessor, and leaves in *mhz how fast they passed.
static __global__ void measure_clock(long long cycles, double* mhz) {
  const long long first_cycle = clock64();
  const std::uint64_t first_ns = global_timer_ns();
  long long passed = 0;
  while (passed < cycles) passed = clock64() - first_cycle;
  *mhz = 1e3 * passed / (global_timer_ns() - first_ns + 1);
}

/// The clock of a multiprocessor in MHz, which follows the load within milliseconds.
inline double sm_clock_mhz() {
  const DeviceArray<double> mhz(1);
  measure_clock<<<1, 1>>>(500000, mhz);  // a quarter of a millisecond
  CUDA_CHECK_LAUNCH();
  return mhz.download()[0];
}

/// Reads `n` 16-byte words, eight of a thread in each round. Their exclusive-or is stored if it is
/// a number that it never is: so the compiler cannot drop the loads.
static __global__ void read_everything(const uint4* x, std::size_t n, unsigned* never) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned bits = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += 8 * stride) {
#pragma unroll
    for (std::size_t k = 0; k < 8; ++k) {
      const std::size_t at = i + k * stride;
      if (at < n) bits ^= x[at].x ^ x[at].y ^ x[at].z ^ x[at].w;
    }
  }
  if (bits == 0x9e3779b9u) *never = bits;
}

/// The speed of reading `bytes` of device memory, in GB/s (1e9 bytes per second); 0 without a GPU.
inline double measured_read_gbps(std::size_t bytes) {
  if (!kOnGpu) return 0;
  const DeviceArray<uint4> data(bytes / sizeof(uint4));
  const DeviceArray<unsigned> never(1);
  const unsigned grid = blocks_held(read_everything, 512);
  const Timing t = time_launches(11, [&] {
    read_everything<<<grid, 512>>>(data, data.size(), never);
    CUDA_CHECK_LAUNCH();
  });
  return static_cast<double>(data.bytes()) / t.median_ms / 1e6;
}

/// The speed of a copy from one half of so much memory to the other, bytes read and written.
inline double measured_copy_gbps(std::size_t bytes) {
  if (!kOnGpu) return 0;
  const DeviceArray<char> from(bytes / 2), to(bytes / 2);
  const Timing t = time_launches(
      11, [&] { CUDA_CHECK(cudaMemcpyAsync(to, from, to.bytes(), cudaMemcpyDeviceToDevice)); });
  return 2 * static_cast<double>(to.bytes()) / t.median_ms / 1e6;
}
