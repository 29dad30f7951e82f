// SPDX-License-Identifier: MIT
// Choosing a device, reading its attributes, and the peaks that follow from them.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "backend.cuh"
#include "check.cuh"
#include "options.cuh"

/// One attribute. cudaDeviceProp lost its clocks in CUDA 13; the attributes are there in every
/// version.
inline int device_attribute(cudaDeviceAttr attribute, int ordinal) {
  int value = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, ordinal));
  return value;
}

/// FP32 cores per multiprocessor, by compute capability ("Throughput of Native Arithmetic
/// Instructions" in the CUDA C++ Programming Guide: results per clock and SM for 32-bit add).
/// 0 when unknown: a capability this table has not met is reported, never guessed.
inline int fp32_cores_per_sm(int major, int minor) {
  struct Known {
    int capability, cores;
  };
  constexpr Known kKnown[] = {{50, 128},  {52, 128},  {53, 128},  {60, 64},  {61, 128},
                              {62, 128},  {70, 64},   {72, 64},   {75, 64},  {80, 64},
                              {86, 128},  {87, 128},  {89, 128},  {90, 128}, {100, 128},
                              {103, 128}, {110, 128}, {120, 128}, {121, 128}};
  for (const Known& known : kKnown) {
    if (known.capability == major * 10 + minor) return known.cores;
  }
  return 0;
}

/// The device that a program runs on.
struct Device {
  int ordinal = 0;
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int sm_count = 0;
  int threads_per_sm = 0;  ///< that a multiprocessor holds at once
  int core_khz = 0;        ///< boost clock of the multiprocessors
  int memory_khz = 0;      ///< clock of the DRAM; data moves on both of its edges
  int bus_bits = 0;        ///< width of the memory interface
  std::size_t l2_bytes = 0;
  std::size_t total_bytes = 0;
  int runtime_version = 0, driver_version = 0;  ///< 13000 means 13.0

  /// Peak DRAM bandwidth in GB/s (1e9): clock x 2 edges x bus width. 0 when the device does not
  /// say.
  double peak_dram_gbps() const { return 2e3 * memory_khz * (bus_bits / 8) / 1e9; }

  /// Peak FP32 rate in GFLOP/s: SMs x cores x 2 (a fused multiply-add is two) x clock. 0 when
  /// unknown.
  double peak_fp32_gflops() const {
    return 2e3 * sm_count * fp32_cores_per_sm(major, minor) * core_khz / 1e9;
  }

  /// Threads that the whole device holds at once.
  std::size_t thread_slots() const { return static_cast<std::size_t>(sm_count) * threads_per_sm; }

  /// "9.0"
  std::string capability() const { return std::to_string(major) + "." + std::to_string(minor); }

  /// "13.0" from 13000.
  static std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  }
};

/// Why there is no GPU to use, in words a user can act on.
inline std::string no_device_text(cudaError_t status) {
  std::string text = std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status);
  if (status != cudaErrorInsufficientDriver) return text;
  int driver = 0, runtime = 0;
  CUDA_CHECK(cudaDriverGetVersion(&driver));  // 0 without a driver
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  if (driver == 0) return text + "; no driver is installed";
  return text + "; the driver is for CUDA " + Device::version_text(driver) +
         " and older, this program for " + Device::version_text(runtime);
}

/// Returns the number of devices; creates no context. Without a usable GPU it prints how to go on,
/// exit status 77. An `opt.device` that is not there: one line, exit status 2.
inline int require_device(const Options& opt) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    std::fprintf(stderr,
                 "%s: no usable NVIDIA GPU (%s). Without one: make run CH=%.2s BACKEND=cpu\n",
                 opt.chapter().c_str(), no_device_text(status).c_str(), opt.chapter().c_str());
    std::exit(kExitNoGpu);
  }
  if (opt.device >= static_cast<std::size_t>(count)) {
    opt.usage_error("--device " + std::to_string(opt.device) + ": expected 0 to " +
                    std::to_string(count - 1) + ", this machine's devices");
  }
  return count;
}

/// Describes one device; it need not be the current one.
inline Device describe_device(int ordinal) {
  Device d;
  d.ordinal = ordinal;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, ordinal));
  d.name = properties.name;
  d.major = properties.major;
  d.minor = properties.minor;
  d.sm_count = properties.multiProcessorCount;
  d.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  d.total_bytes = properties.totalGlobalMem;
  d.threads_per_sm = device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor, ordinal);
  d.core_khz = device_attribute(cudaDevAttrClockRate, ordinal);
  d.memory_khz = device_attribute(cudaDevAttrMemoryClockRate, ordinal);
  d.bus_bits = device_attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal);
  CUDA_CHECK(cudaRuntimeGetVersion(&d.runtime_version));
  CUDA_CHECK(cudaDriverGetVersion(&d.driver_version));
  return d;
}

/// Makes device `opt.device` current and describes it; ends the program as require_device() does.
inline Device open_device(const Options& opt) {
  require_device(opt);
  const int ordinal = static_cast<int>(opt.device);
  CUDA_CHECK(cudaSetDevice(ordinal));
  return describe_device(ordinal);
}

/// How many blocks of `kernel` the device holds at once, at least 1: as many as fit on an SM, times
/// the number of SMs. In a grid of that size no block waits for another to end. `dynamic_bytes` is
/// the dynamic shared memory of a block.
template <class Kernel>
std::size_t blocks_held(const Device& device, Kernel* kernel, std::size_t block,
                        std::size_t dynamic_bytes = 0) {
  int per_sm = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, static_cast<int>(block),
                                                           dynamic_bytes));
  return static_cast<std::size_t>(std::max(1, device.sm_count * per_sm));
}

/// Bytes of memory that the current device has left.
inline std::size_t free_device_bytes() {
  std::size_t free_bytes = 0, total_bytes = 0;
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  return free_bytes;
}

/// Refuses a size that does not fit before anything is allocated: one line with the bytes asked for
/// and the bytes free, exit status 2. `option` is what the user can make smaller, such as
/// "--n 4294967296".
inline void require_device_memory(const Options& opt, const std::string& option,
                                  std::size_t bytes) {
  const std::size_t free_bytes = free_device_bytes();
  if (bytes > free_bytes) {
    opt.usage_error(option + ": needs " + std::to_string(bytes) + " bytes of device memory, " +
                    std::to_string(free_bytes) + " are free");
  }
}
