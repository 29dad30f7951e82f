// SPDX-License-Identifier: MIT
// __syncthreads and its variants. The default arguments carry the learner's line into the engine.
#pragma once

#include <cstdint>

#include "../../types/site.h"

namespace cuda_cpu {

struct Block;

/// Waits until all threads of the block are here. `which` tells barriers of one line apart: the
/// pre-pass gives it to all but the first.
void block_barrier(const char* file, int line, std::uint8_t which);

/// The same. Afterwards each thread knows the predicates of all.
struct BarrierVotes {
  int count;  ///< how many are non-zero
  int all;
  int any;
};
BarrierVotes block_barrier_vote(int predicate, const char* file, int line, std::uint8_t which);

/// The barrier of a cooperative launch: waits for every thread of the grid. Each block may wait at
/// another line, since only the arrivals of blocks are counted; the threads of a block may not.
void grid_sync(CUDA_CPU_HERE, std::uint8_t which = 0);

/// True inside a cooperative launch (cooperative_groups grid_group::is_valid).
bool grid_is_cooperative();

}  // namespace cuda_cpu

inline void __syncthreads(CUDA_CPU_HERE, std::uint8_t which = 0) {
  cuda_cpu::block_barrier(file, line, which);
}

inline int __syncthreads_count(int predicate, CUDA_CPU_HERE, std::uint8_t which = 0) {
  return cuda_cpu::block_barrier_vote(predicate, file, line, which).count;
}

inline int __syncthreads_and(int predicate, CUDA_CPU_HERE, std::uint8_t which = 0) {
  return cuda_cpu::block_barrier_vote(predicate, file, line, which).all;
}

inline int __syncthreads_or(int predicate, CUDA_CPU_HERE, std::uint8_t which = 0) {
  return cuda_cpu::block_barrier_vote(predicate, file, line, which).any;
}
