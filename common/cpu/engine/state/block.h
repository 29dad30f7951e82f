// SPDX-License-Identifier: MIT
// A running block and its CUDA threads, as the engine keeps them. Device-side inline functions
// read a little of it; nothing outside the engine writes it, but for
// `observation`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../types/site.h"
#include "../../types/vector_types.h"

namespace cuda_cpu {

struct CopyQueue;
struct PhaseBarrier;
struct PrintedTexts;
struct Stack;
struct TensorWork;

/// Why a CUDA thread last gave up its turn.
enum class Wait : std::uint8_t { kNothing, kBarrier, kWarp, kActiveMask, kYield, kGrid, kPhase };

enum class WarpOperation : std::uint8_t;

/// What becomes of the value of a shuffle.
enum class Use : std::uint8_t { kUnknown, kExpression, kMemory };

/// A thread of a resident block. It may run if and only if *generation != seen. Threads that wait
/// for the same thing look at the same generation; whoever ends the wait increments it and need not
/// know the threads.
struct alignas(64) Thread {
  void* context = nullptr;          // while it does not run
  const std::uint32_t* generation;  // waited for
  std::uint32_t seen;
  uint3 index;                 // threadIdx
  const char* file = nullptr;  // where it waits, or left the kernel
  std::int32_t line = 0;
  Wait wait = Wait::kNothing;
  bool finished = false;
  std::uint8_t which = 0;    // of several barriers on one line
  Use use = Use::kUnknown;   // of the next shuffle
  std::uint64_t result;      // of a warp operation
  const void* pc = nullptr;  // where it called yield; the name of the call that waits for a phase

  /// From now on it waits, until `*watched` is no longer `now`.
  void begin_wait(Wait why, const std::uint32_t* watched, std::uint32_t now, const char* in_file,
                  int at_line) {
    wait = why;
    generation = watched;
    seen = now;
    file = in_file;
    line = at_line;
  }
};
static_assert(sizeof(Thread) == 64, "one cache line a thread");

/// The memory of one __shared__ declaration in one block.
struct SharedArray {
  void* address;
  std::uint32_t serial;  // the block that touched it last
  std::size_t size;
  char* pages;  // between guard pages; the array ends where they end
  std::size_t page_bytes;
  const char* name;
  Site site;
};

/// One pending warp operation. Lanes of a warp may wait in several at once, under different masks.
struct WarpSlot {
  std::uint32_t mask = 0;
  std::uint32_t lanes = 0;  // that the mask names and that exist
  std::uint32_t arrived = 0;
  std::uint32_t generation = 0;
  WarpOperation operation{};
  Use use = Use::kUnknown;  // of a shuffle: the strongest of all lanes
  std::uint64_t value[32];
  std::uint32_t operand[32];  // source lane of a shuffle
};

/// Lanes whose value comes from a lane that took no part, in a row of shuffles on one line: a tree
/// of additions passes it on.
struct UndefinedLanes {
  std::uint32_t lanes = 0;
  std::uint32_t mask = 0;
  std::int32_t line = 0;
  unsigned distance = 0;            // of the shuffle before
  unsigned reader = 0, source = 0;  // where it began
};

struct Warp {
  unsigned used = 0;  // slots that have been used
  UndefinedLanes undefined;
  WarpSlot slot[32];  // each lane waits in one at most
};

/// What begins anew with each block.
struct BlockProgress {
  std::uint32_t position = ~0u;  // of the running thread in the order
  std::uint32_t started = 0;     // order[0 .. started) have begun; the rest begins in this order
  std::uint32_t finished = 0;
  std::uint64_t random_state = 0;  // of a random order

  // Block barrier.
  std::uint32_t arrived = 0;  // unless in step
  std::uint32_t votes = 0;    // predicates so far that are true
  // In step threads come to the same barriers in their order and wait for nothing else: the running
  // one tells which wait, and none of that is written down.
  std::int32_t step_line = -1;  // of the barrier; 0: none has arrived there; -1: not in step
  bool lines_differ = false;

  std::uint32_t grid_arrived = 0;  // threads at the grid barrier
  unsigned idle_rounds = 0;
  unsigned warp_turns = 0;  // in which the round went back to the start of a warp
  std::size_t static_shared_bytes = 0;
};

/// A resident block and the memory that it needs; reused from block to block.
struct Block : BlockProgress {
  Thread* threads = nullptr;
  std::uint16_t* order = nullptr;  // the round runs threads[order[0]], threads[order[1]], ...
  std::uint32_t count = 0;         // threads in the block

  // Block barrier: `line`, `which` and `file` are those of the first to arrive.
  std::uint32_t epoch = 0;
  std::int32_t line = 0;
  std::uint8_t which = 0;
  const char* file = nullptr;
  Thread* last = nullptr;                      // null: this block does not go in step
  std::uint32_t votes_result = 0, voters = 0;  // of the barrier that opened last

  // Shared memory. `serial` tells this block's first touch of a declaration from an earlier
  // block's.
  SharedArray* shared = nullptr;
  std::uint32_t shared_count = 0;
  std::uint32_t serial = 0;
  std::size_t dynamic_shared_bytes = 0;

  // Asynchronous copies, and barriers of the program's own (cuda::barrier).
  CopyQueue* copy_queues = nullptr;    // of each thread; null until one copies
  std::uint32_t copies_under_way = 0;  // in all queues
  PhaseBarrier** phase_barriers = nullptr;
  std::uint32_t phase_barrier_count = 0;  // that this block has made
  std::uint32_t phase_barrier_room = 0;   // that earlier blocks had made

  TensorWork* tensors = nullptr;  // of libs/tensor; null until an instruction needs it

  Warp* warps = nullptr;
  uint3 index{0, 0, 0};             // blockIdx
  std::uint32_t grid_serial = 0;    // launch that the threads are set up for
  Stack** stacks = nullptr;         // of each thread; only sanitizers need them
  void* observation = nullptr;      // what the observer keeps about this block, if it watches
  PrintedTexts* printed = nullptr;  // by its threads; null until one prints
  std::uint64_t progress_seen = 0;
};

/// Generations that never change: a thread that looks at the first with seen = 0 may always run, at
/// the second never.
inline const std::uint32_t kAlwaysRunnable = 1;
inline const std::uint32_t kNeverRunnable = 0;

/// Whether a thread may run.
inline bool runnable(const Thread& thread) {
  return __atomic_load_n(thread.generation, __ATOMIC_RELAXED) != thread.seen;
}

/// Whether it waits for a thing of this kind.
inline bool waits(const Thread& thread, Wait wait) {
  return !thread.finished && thread.wait == wait && !runnable(thread);
}

}  // namespace cuda_cpu
