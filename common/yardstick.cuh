// SPDX-License-Identifier: MIT
// The measured bandwidth of this device's memory: the yardsticks beside the versions' throughputs.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend.cuh"
#include "check.cuh"
#include "device.cuh"
#include "device_array.cuh"
#include "timer.cuh"

/// Reads `n` 16-byte words and keeps nothing but their exclusive-or, so that the loads cannot be
/// dropped and only reading takes time. Eight loads per thread are in flight before the
/// first is used.
static __global__ void read_everything(const uint4* x, std::size_t n, unsigned* result) {
  constexpr int kInFlight = 8;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned bits = 0;
  std::size_t i = first;
  for (; i + (kInFlight - 1) * stride < n; i += kInFlight * stride) {
    uint4 v[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) v[k] = x[i + k * stride];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) bits ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  for (; i < n; i += stride) bits ^= x[i].x ^ x[i].y ^ x[i].z ^ x[i].w;
  if (bits != 0) atomicXor(result, bits);
}

/// Blocks of read_everything that the device holds at once.
inline unsigned read_grid(const Device& device, unsigned block) {
  return static_cast<unsigned>(blocks_held(device, read_everything, block));
}

/// Measured bandwidths in GB/s (1e9 bytes per second).
struct Yardstick {
  double copy_gbps = 0;  ///< device-to-device copy, bytes read plus bytes written
  double read_gbps = 0;  ///< read_everything
};

/// Measures both over `bytes` of device memory: a copy from one half to the other, and a read of
/// the whole. Default: 2 GiB, or a quarter of what is free. Takes some milliseconds.
inline Yardstick measure_yardstick(const Device& device, std::size_t bytes = 2_Gi,
                                   std::size_t samples = 11) {
  bytes = std::min(bytes, free_device_bytes() / 4) / 64 * 64;
  const DeviceArray<char> data(bytes);
  const DeviceArray<unsigned> result(std::vector<unsigned>{0});
  CUDA_CHECK(cudaMemset(data.get(), 0x5a, bytes));

  Yardstick y;
  const std::size_t half = bytes / 2;
  const Timing copy = time_launches(samples, [&] {
    CUDA_CHECK(cudaMemcpyAsync(data.get() + half, data.get(), half, cudaMemcpyDeviceToDevice));
  });
  y.copy_gbps = 2 * static_cast<double>(half) / copy.median_ms / 1e6;

  constexpr unsigned kBlock = 512;
  const unsigned grid = read_grid(device, kBlock);
  const Timing read = time_launches(samples, [&] {
    read_everything<<<grid, kBlock>>>(reinterpret_cast<const uint4*>(data.get()),
                                      bytes / sizeof(uint4), result.get());
    CUDA_CHECK_LAUNCH();
  });
  y.read_gbps = static_cast<double>(bytes) / read.median_ms / 1e6;
  return y;
}
