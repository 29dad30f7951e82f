// SPDX-License-Identifier: MIT
// Limits of the device that the backend imitates: those of a recent GPU. The engine enforces them;
// device properties, occupancy queries and messages about bad launches quote them.
#pragma once

#include <cstddef>

namespace cuda_cpu {

/// CUDA_CPU_DEVICES can ask for so many.
constexpr int kMaxDevices = 8;

/// The compute capability, as __CUDA_ARCH__ says it: that of asynchronous copies, of matrices of
/// bf16, tf32 and double, of cuda::barrier and of __reduce_add_sync. From 9.0 on a device also has
/// clusters of blocks, which the backend has not. Sizes, such as that of shared memory, are those
/// of a 9.0, which the course's numbers are from.
#define CUDA_CPU_ARCH 800
constexpr int kMajor = CUDA_CPU_ARCH / 100, kMinor = CUDA_CPU_ARCH / 10 % 10;
/// Version of the toolkit that these names, numbers and rules come from.
constexpr int kToolkitVersion = 13000;

constexpr unsigned kWarpSize = 32;

constexpr unsigned kMaxThreadsPerBlock = 1024;
constexpr unsigned kMaxBlockX = 1024, kMaxBlockY = 1024, kMaxBlockZ = 64;
constexpr unsigned kMaxGridX = 2147483647, kMaxGridY = 65535, kMaxGridZ = 65535;

/// A worker stands for a multiprocessor: this many threads and blocks are resident at a time.
constexpr unsigned kMaxThreadsPerWorker = 2048;
constexpr unsigned kMaxBlocksPerWorker = 32;

constexpr unsigned kRegistersPerBlock = 65536;
constexpr unsigned kRegistersPerWorker = 65536;
/// Just enough to fill a multiprocessor, so registers never limit occupancy here.
constexpr unsigned kRegistersPerThread = kRegistersPerWorker / kMaxThreadsPerWorker;

constexpr std::size_t kSharedPerBlock = std::size_t{48} << 10;
constexpr std::size_t kSharedPerBlockOptIn = std::size_t{227} << 10;
constexpr std::size_t kSharedPerWorker = std::size_t{228} << 10;
constexpr std::size_t kSharedReservedPerBlock = std::size_t{1} << 10;
constexpr std::size_t kSharedGranularity = 128;

constexpr std::size_t kConstantMemory = std::size_t{64} << 10;

constexpr std::size_t kTextureAlignment = 512;
constexpr std::size_t kTexturePitchAlignment = 32;
constexpr std::size_t kSurfaceAlignment = 512;
/// In texels; pitched textures have fewer rows than arrays.
constexpr std::size_t kMaxTexture1DLinear = std::size_t{1} << 28;
constexpr std::size_t kMaxTextureWidth = 131072, kMaxTextureHeight = 65536;
constexpr std::size_t kMaxPitchedHeight = 65000;
constexpr std::size_t kMaxTexturePitch = 2097120;
constexpr std::size_t kMaxTexture3D = 16384;
constexpr std::size_t kMaxTextureGather = 32768;
constexpr std::size_t kMaxSurface1D = 32768;
constexpr std::size_t kPitchAlignment = 512;
constexpr std::size_t kMaxPitch = 2147483647;

/// clock64() ticks in nanoseconds.
constexpr int kClockKhz = 1000000;

constexpr int kLeastStreamPriority = 0;
constexpr int kGreatestStreamPriority = -5;

}  // namespace cuda_cpu
