// SPDX-License-Identifier: MIT
// One launch: the request, and what the engine keeps about it while it runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include "../../types/site.h"
#include "../../types/vector_types.h"
#include "settings.h"

namespace cuda_cpu {

/// Launches that agree in all of these are one launch, made again.
struct LaunchIdentity {
  std::string kernel, file, arguments;
  int line;
  dim3 grid, block;
  std::size_t shared_bytes;
  std::uint64_t arguments_hash;
  const void* function;  // null where the launch does not know it

  auto all() const {
    return std::tie(function, arguments_hash, line, grid.x, grid.y, grid.z, block.x, block.y,
                    block.z, shared_bytes, kernel, file, arguments);
  }
  bool operator==(const LaunchIdentity& o) const { return all() == o.all(); }
  bool operator<(const LaunchIdentity& o) const { return all() < o.all(); }
};

/// A launch as it was requested: all that is needed to run the grid.
struct GridLaunch {
  LaunchedKernel kernel;
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes = 0;
  int device = 0;                         ///< that runs it
  bool cooperative = false;               ///< blocks may meet at a grid barrier
  bool may_start_early = false;           ///< before what is ahead in the stream has ended
  void (*body)(void* closure) = nullptr;  ///< runs the kernel once, for the current CUDA thread
  void* closure = nullptr;
  /// By these an observer tells launches of a kernel apart; empty in builds without one.
  const void* function = nullptr;
  std::string arguments;
  std::uint64_t arguments_hash = 0;

  LaunchIdentity identity() const {
    return {kernel.name, kernel.file,          arguments,      kernel.line, grid,
            block,       dynamic_shared_bytes, arguments_hash, function};
  }
};

/// A grid while it runs.
struct Grid {
  const GridLaunch* launch = nullptr;
  std::uint64_t blocks = 0;
  std::uint32_t threads_per_block = 0;
  std::uint32_t serial = 0;
  Schedule schedule{};
  bool observed = false;
  std::atomic<std::uint64_t> next_block{0};  // in schedule order
  std::atomic<int> error{0};                 // first one wins; the workers stop at it

  // Grid barrier. Waiting threads look at `epoch`.
  std::uint32_t epoch = 0;
  std::atomic<std::uint64_t> blocks_arrived{0};

  void fail(int cuda_error) {
    int none = 0;
    error.compare_exchange_strong(none, cuda_error);
  }
};

}  // namespace cuda_cpu
