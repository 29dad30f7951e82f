// SPDX-License-Identifier: MIT
// X-ray or the race detector watches the engine at work, in programs that are built for it.
// Everywhere else the pointer is null, and costs one test for each grid, block and barrier.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../../types/site.h"

namespace cuda_cpu {

struct AsyncCopy;
struct Block;
struct GridLaunch;

template <class... Arguments>
void nobody_hears(Arguments...) {}

/// Who watches sets those that it wants to hear; of blocks it hears only where `grid_begins` is
/// true, and then sets `block_begins`, too.
struct Observer {
  /// Before the first block. False: this grid is not observed.
  bool (*grid_begins)(const GridLaunch& launch);
  /// When the last block has ended or the grid was abandoned, whether it was observed or not.
  void (*grid_ends)(const GridLaunch& launch) = nobody_hears;
  /// Its result becomes block.observation. Null: the observer hears no more of this block.
  void* (*block_begins)(const Block& block, std::uint64_t number, std::uint64_t blocks);
  void (*block_ends)(Block& block) = nobody_hears;
  /// All threads have arrived, none has gone on.
  void (*barrier_opens)(Block& block) = nobody_hears;
  /// The running thread waits for others, but not for its whole block: warp operation, grid
  /// barrier. `lanes`: those of its warp that it meets.
  void (*thread_meets)(Block& block, std::uint32_t lanes) = nobody_hears;
  /// __syncwarp: these lanes of the warp have all arrived, none has gone on.
  void (*lanes_met)(Block& block, std::uint32_t warp, std::uint32_t lanes) = nobody_hears;
  /// An asynchronous copy is made now: its thread waits for it, or somebody for the phase of the
  /// barrier that it belongs to.
  void (*copy_arrives)(Block& block, const AsyncCopy& copy, const void* barrier) = nobody_hears;
  /// The running thread arrives at a barrier of the program's own, which is in this phase, or goes
  /// on since the phase has ended.
  void (*phase_is_reached)(Block& block, const void* barrier, std::uint32_t phase) = nobody_hears;
  void (*phase_is_passed)(Block& block, const void* barrier, std::uint32_t phase) = nobody_hears;
  /// All threads of the grid have arrived, none has gone on.
  void (*grid_barrier_opens)() = nobody_hears;
  /// A copy, fill or free that the runtime makes. `source`: of what a copy writes, else null. Where
  /// nobody wants to hear of it (null), the order of streams is not kept either.
  void (*range_is_used)(const void* address, std::size_t bytes, bool writes, const char* call,
                        Site site, const void* source);
  /// Another device's variables have taken this place: what was done here before was done to
  /// others.
  void (*range_is_another)(const void* address, std::size_t bytes) = nobody_hears;
  /// Called again and again, by a thread of its own, while grids run; `seconds`: how long by now.
  void (*time_passes)(double seconds) = nobody_hears;
  /// The blocks of an observed grid run one after the other, or in turns, but none beside another.
  bool wants_one_worker;
};

/// Constant-initialised to null; set before main by the program's static initialisers.
inline const Observer* observer = nullptr;

/// Whether work was put on a stream of which the host does not know that it has ended. Always false
/// unless ranges that are used are told of.
inline std::atomic<bool> host_is_behind{false};

/// Tells it, if it wants to know, that a call of the runtime uses memory now.
inline void tell_of_range(const void* address, std::size_t bytes, bool writes, const char* call,
                          Site site, const void* source = nullptr) {
  if (observer == nullptr || observer->range_is_used == nullptr) return;
  observer->range_is_used(address, bytes, writes, call, site, source);
}

}  // namespace cuda_cpu
