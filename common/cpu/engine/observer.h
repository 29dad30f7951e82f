// SPDX-License-Identifier: MIT
// X-ray watches the engine at work, in programs that are built for it. Everywhere else the pointer
// is null, and costs one test for each grid, block and barrier.
#pragma once

#include <cstdint>

namespace cuda_cpu {

struct Block;
struct GridLaunch;
struct Thread;

struct Observer {
  /// Before the first block. False: this grid is not observed.
  bool (*grid_begins)(const GridLaunch& launch);
  /// When the last block has ended or the grid was abandoned; only for observed grids.
  void (*grid_ends)(const GridLaunch& launch);
  /// Its result becomes block.observation. Null: the observer hears no more of this block.
  void* (*block_begins)(const Block& block, std::uint64_t number, std::uint64_t blocks);
  void (*block_ends)(Block& block);
  /// All threads have arrived, none has gone on.
  void (*barrier_opens)(Block& block);
  /// A thread waits for others, but not for its whole block: warp operation, grid barrier. `lanes`:
  /// those of its warp that it meets.
  void (*thread_meets)(Block& block, const Thread& thread, std::uint32_t lanes);
};

/// Constant-initialised to null; set before main by the program's static initialisers.
inline const Observer* observer = nullptr;

}  // namespace cuda_cpu
