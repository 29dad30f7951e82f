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

/// Reads `n` 16-byte words and puts nothing but their exclusive-or into `result`, so that the loads
/// cannot be dropped and only reading takes time. Eight loads per thread are in flight before the
/// first is used, and a block updates `result` once: an update by every warp would take
/// microseconds.
static __global__ void read_everything(const uint4* x, std::size_t n, unsigned* result) {
  constexpr unsigned kColumns = 32;  // lane i of every warp meets in column i
  __shared__ unsigned columns[kColumns];
  if (threadIdx.x < kColumns) columns[threadIdx.x] = 0;
  __syncthreads();  // all are zero before the first thread adds to one
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
  atomicXor(&columns[threadIdx.x % kColumns], bits);
  __syncthreads();  // every thread's bits are in
  if (threadIdx.x != 0) return;
  unsigned block_bits = 0;
  for (unsigned k = 0; k < kColumns && k < blockDim.x; ++k) block_bits ^= columns[k];
  atomicXor(result, block_bits);
}

/// Blocks of read_everything that the device holds at once.
inline unsigned read_grid(const Device& device, unsigned block) {
  return static_cast<unsigned>(blocks_held(device, read_everything, block));
}

/// The pattern that the yardsticks move: no two of the 2^32 words are alike.
__host__ __device__ inline unsigned pattern_word(std::size_t i) {
  return static_cast<unsigned>(i) * 2654435769u + 1u;  // odd factor: a permutation of the words
}

static __global__ void write_pattern(unsigned* words, std::size_t n) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    words[i] = pattern_word(i);
  }
}

/// What read_everything has to find in the first `n` words of the pattern.
inline unsigned pattern_bits(std::size_t n) {
  unsigned bits = 0;
  for (std::size_t i = 0; i < n; ++i) bits ^= pattern_word(i);
  return bits;
}

/// Measured bandwidths in GB/s (1e9 bytes per second).
struct Yardstick {
  double copy_gbps = 0;  ///< device-to-device copy, bytes read plus bytes written
  double read_gbps = 0;  ///< read_everything
  bool ok = false;       ///< every word was copied, and read
};

/// Measures both over `bytes` of device memory (the data of the rows that they are compared with;
/// at least 64, at most a quarter of what is free): a copy from one half to the other, and a read
/// of the whole. A yardstick that read or copied wrongly ends the program.
inline Yardstick measure_yardstick(const Device& device, std::size_t bytes, Samples samples = 11) {
  bytes = std::max<std::size_t>(std::min(bytes, free_device_bytes() / 4) / 64 * 64, 64);
  const std::size_t half = bytes / 2, words = bytes / sizeof(unsigned);
  const DeviceArray<unsigned> data(words), result(1);
  constexpr unsigned kBlock = 512;
  const unsigned grid = read_grid(device, kBlock);
  write_pattern<<<grid, kBlock>>>(data.get(), words);
  CUDA_CHECK_LAUNCH();
  const auto read = [&](const unsigned* from, std::size_t count) {
    read_everything<<<grid, kBlock>>>(reinterpret_cast<const uint4*>(from), count / 4,
                                      result.get());
    CUDA_CHECK_LAUNCH();
  };
  const auto finds = [&](const unsigned* from, std::size_t count) {
    CUDA_CHECK(cudaMemset(result.get(), 0, sizeof(unsigned)));
    read(from, count);
    return result.download()[0] == pattern_bits(count);
  };

  Yardstick y;
  const Timing reads = time_launches(samples, [&] { read(data.get(), words); });
  y.read_gbps = static_cast<double>(bytes) / reads.median_ms / 1e6;
  y.ok = finds(data.get(), words);

  unsigned* const second_half = data.get() + words / 2;
  CUDA_CHECK(cudaMemset(second_half, 0xff, half));
  const Timing copies = time_launches(samples, [&] {
    CUDA_CHECK(cudaMemcpyAsync(second_half, data.get(), half, cudaMemcpyDeviceToDevice));
  });
  y.copy_gbps = 2 * static_cast<double>(half) / copies.median_ms / 1e6;
  y.ok = finds(second_half, words / 2) && y.ok;
  if (!y.ok) on_cuda_failure("the yardstick's copy or read moved wrong words");
  return y;
}
