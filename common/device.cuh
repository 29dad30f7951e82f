// SPDX-License-Identifier: MIT
// Devices: choosing one, its attributes, its peaks, its clock, and the speed of its memory.
#pragma once

#include "memory.cuh"
#include "options.cuh"
#include "timer.cuh"

/// One attribute. cudaDeviceProp lost its clocks in CUDA 13; every version has the attributes.
inline int device_attribute(cudaDeviceAttr attribute, int ordinal) {
  int value = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, ordinal));
  return value;
}

/// FP32 cores per multiprocessor, by compute capability (CUDA C++ Programming Guide, "Throughput of
/// Native Arithmetic Instructions"). 0 for one that is not in this table: it is never guessed.
inline int fp32_cores_per_sm(int major, int minor) {
  for (const int with_64 : {60, 70, 72, 75, 80})
    if (with_64 == 10 * major + minor) return 64;
  for (const int with_128 : {50, 52, 53, 61, 62, 86, 87, 89, 90, 100, 103, 110, 120, 121})
    if (with_128 == 10 * major + minor) return 128;
  return 0;
}

/// "13.0" from 13000.
inline std::string version_text(int version) {
  return text(version / 1000, ".", version % 1000 / 10);
}

/// The device that a program runs on: CUDA's own description, and what it leaves out.
struct Device : cudaDeviceProp {
  int core_khz = 0;                             ///< boost clock of the multiprocessors
  int runtime_version = 0, driver_version = 0;  ///< 13000 means 13.0

  /// Peak FP32 rate in GFLOP/s: SMs x cores x 2 (a fused multiply-add is two) x clock. 0: unknown.
  double peak_fp32_gflops() const {
    return 2e3 * multiProcessorCount * fp32_cores_per_sm(major, minor) * core_khz / 1e9;
  }
};

/// Returns the number of devices; creates no context. Without a usable GPU: a line that says how to
/// go on, exit status 77. An `opt.device` that is not there: one line, exit status 2.
inline int require_device(const Options& opt) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    std::fprintf(stderr,
                 "%s: no usable NVIDIA GPU (%s). Without one: make run CH=%.2s BACKEND=cpu\n",
                 opt.program.c_str(), cudaGetErrorString(status), opt.program.c_str());
    std::exit(kExitNoGpu);
  }
  if (opt.device >= static_cast<std::size_t>(count))
    opt.usage_error("--device ", opt.device, ": expected 0 to ", count - 1,
                    ", this machine's devices");
  return count;
}

/// Describes one device; it need not be the current one.
inline Device describe_device(int ordinal) {
  Device d;
  CUDA_CHECK(cudaGetDeviceProperties(&d, ordinal));
  d.core_khz = device_attribute(cudaDevAttrClockRate, ordinal);
  CUDA_CHECK(cudaRuntimeGetVersion(&d.runtime_version));
  CUDA_CHECK(cudaDriverGetVersion(&d.driver_version));
  return d;
}

/// Makes device `opt.device` current and describes it; ends the program as require_device() does.
inline Device open_device(const Options& opt) {
  require_device(opt);
  CUDA_CHECK(cudaSetDevice(static_cast<int>(opt.device)));
  return describe_device(static_cast<int>(opt.device));
}

/// How many blocks of `kernel` the current device holds at once, at least 1.
template <class Kernel>
unsigned blocks_held(Kernel* kernel, int block, std::size_t dynamic_bytes = 0) {
  int device = 0, per_sm = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, block, dynamic_bytes));
  const int sms = device_attribute(cudaDevAttrMultiProcessorCount, device);
  return std::max(1, sms * per_sm);
}

/// Nanoseconds of a clock that all multiprocessors share (PTX %globaltimer; C++ has no name for
/// it). It ticks about once in a microsecond. Unlike clock64(), which counts the cycles of one
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

/// Reads `n` 16-byte words, eight of a thread in flight at a time. Their exclusive-or is stored if
/// it is a number that it never is: so the compiler cannot drop the loads.
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
