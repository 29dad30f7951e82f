// SPDX-License-Identifier: MIT
// Devices: choosing one, its attributes, how many blocks it holds at once.
#pragma once

#include "options.cuh"

/// One attribute. cudaDeviceProp lost its clocks in CUDA 13; every version has the attributes.
inline int device_attribute(cudaDeviceAttr attribute, int ordinal) {
  int value = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, ordinal));
  return value;
}

/// "13.0" from 13000.
inline std::string version_text(int version) {
  return text(version / 1000, ".", version % 1000 / 10);
}

/// The device that a program runs on: CUDA's own description, and what it leaves out.
struct Device : cudaDeviceProp {
  int core_khz = 0;                             ///< boost clock of the multiprocessors
  int runtime_version = 0, driver_version = 0;  ///< 13000 means 13.0
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
