// SPDX-License-Identifier: MIT
// Which backend this is compiled for. Chapters ask this constant; they hold no #ifdef.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#ifdef __CUDA_CPU__
constexpr bool kOnGpu = false;
#else
constexpr bool kOnGpu = true;  ///< false on the CPU backend, where times say nothing about a GPU
#endif

/// 4_Ki = 4096, 16_Mi = 2^24, 1_Gi = 2^30: sizes as people say them.
constexpr std::size_t operator""_Ki(unsigned long long value) { return value << 10; }
constexpr std::size_t operator""_Mi(unsigned long long value) { return value << 20; }
constexpr std::size_t operator""_Gi(unsigned long long value) { return value << 30; }

/// How many pieces of `size` cover `count` things: division rounded up, safe near the type's limit.
constexpr std::size_t div_up(std::size_t count, std::size_t size) {
  return count / size + (count % size != 0);
}

/// For __launch_bounds__: as many threads as a multiprocessor of the GPU being compiled for surely
/// holds. That is 2048 on those listed ("Technical Specifications per Compute Capability" in the
/// CUDA C++ Programming Guide). All others hold at least 1024.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ <= 720 || __CUDA_ARCH__ == 800 || \
    __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030
constexpr unsigned kThreadsPerMultiprocessor = 2048;
#else
constexpr unsigned kThreadsPerMultiprocessor = 1024;
#endif
