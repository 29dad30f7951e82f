// SPDX-License-Identifier: MIT
// Sizes of the device that the backend pretends to be, beyond those that the engine enforces
// (engine.h).
#pragma once

#include <cstddef>

#include "engine.h"

namespace cuda_cpu {

constexpr int kWarpSize = 32;
constexpr int kThreadsPerBlock = static_cast<int>(kMaxThreadsPerBlock);
constexpr int kThreadsPerMultiprocessor = static_cast<int>(kMaxThreadsPerWorker);
constexpr int kBlocksPerMultiprocessor = static_cast<int>(kMaxBlocksPerWorker);
constexpr int kRegistersPerBlock = 65536;
constexpr int kRegistersPerMultiprocessor = 65536;
/// What fills a multiprocessor exactly: registers never limit occupancy here.
constexpr int kRegistersPerThread = kRegistersPerMultiprocessor / kThreadsPerMultiprocessor;
constexpr std::size_t kSharedPerMultiprocessor = std::size_t{228} << 10;
constexpr std::size_t kSharedReservedPerBlock = std::size_t{1} << 10;
constexpr std::size_t kSharedGranularity = 128;
constexpr std::size_t kConstantMemory = std::size_t{64} << 10;
constexpr int kMaxBlockX = 1024, kMaxBlockY = 1024, kMaxBlockZ = 64;
constexpr int kMaxGridX = 2147483647, kMaxGridY = 65535, kMaxGridZ = 65535;
/// clock64() ticks in nanoseconds.
constexpr int kClockKhz = 1000000;
constexpr int kMaxPitch = 2147483647;

}  // namespace cuda_cpu
