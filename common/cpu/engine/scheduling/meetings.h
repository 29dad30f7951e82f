// SPDX-License-Identifier: MIT
// What scheduling tells the room above it, in which threads meet.
#pragma once

namespace cuda_cpu {

struct Block;

/// Set before main, by meeting/listening.cpp.
struct Meetings {
  void (*block_begins)(Block* block);
  /// Returns a CUDA error code, after a report.
  int (*block_ends)(Block* block);
  /// No thread of the block can go on, or all only yield. Lets go on whom it held until then; false
  /// if there is none.
  bool (*nothing_runs)(Block* block);
};
inline Meetings meetings;

}  // namespace cuda_cpu
