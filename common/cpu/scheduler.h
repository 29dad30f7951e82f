// SPDX-License-Identifier: MIT
// Inside of the engine: workers, the stacks on which CUDA threads run, and the choice of what runs
// next.
//
// A worker is an OS thread that runs whole blocks. On one stack a *runner* calls the kernel for
// thread 0, then for thread 1, and so on: a kernel that never waits costs one call a thread. When a
// thread must wait, its stack stays with it, and a runner on another stack goes on with the next
// thread. When a thread ends, control is back in the runner under it, which by then has nothing
// left to start: it gives its stack back and switches to a thread that can run.
#pragma once

#include <pthread.h>
#include <setjmp.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "context.h"
#include "engine.h"
#include "sanitizers.h"
#include "state.h"
#include "warp.h"

namespace cuda_cpu {

// The built-in variables of builtin_variables.h, writable.
extern __thread uint3 running_thread_index __asm__("cuda_cpu_thread_index");
extern __thread uint3 running_block_index __asm__("cuda_cpu_block_index");
extern __thread dim3 running_block_dim __asm__("cuda_cpu_block_dim");
extern __thread dim3 running_grid_dim __asm__("cuda_cpu_grid_dim");

struct Worker;

/// Threads that return early count as arrived at every barrier and in every mask, instead of being
/// an error (CUDA_CPU_EARLY_RETURN=allow).
bool early_return_allowed();

struct Stack {
  char* bottom = nullptr;
  std::size_t size = 0;
  void* context = nullptr;  // of its runner, while parked
  Worker* worker = nullptr;
  void* fiber = nullptr;  // TSan's name for whatever CUDA thread runs here

  // For TSan, see fences.cpp: the running thread's last fence, and where its atomics have read.
  void* last_fence = nullptr;
  std::uint64_t places_read = 0;
};

/// One launch while it runs.
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

/// Why the watchdog stops a worker.
enum class Interrupt : int { kNone, kTimeout, kOnlyBarriers, kOtherWorkerFailed };

struct Worker {
  Grid* grid = nullptr;
  std::vector<Block*> live;  // resident blocks; current_block is live[live_position]
  std::size_t live_position = 0;
  std::vector<Block*> spare;  // without a block to run
  std::vector<Stack*> stacks;
  std::deque<Stack*> free_stacks;
  std::uint64_t random_state = 1;
  unsigned fruitless_turns = 0;  // around the live blocks, with nothing but yields and waits
  std::uint64_t progress_last_turn = 0;

  // Threads and blocks that ended, barriers that opened. The watchdog looks at them.
  std::uint64_t ended = 0, barriers = 0;
  std::uint64_t progress() const { return ended + barriers; }

  void* home_context = nullptr;  // the OS thread's own stack, in run()
  sigjmp_buf home_jump;
  Fault fault{};
  enum class Exit { kAbandoned, kFault, kInterrupt };
  Exit exit = Exit::kAbandoned;  // why the jump home was made
  bool early_exit_counts = early_return_allowed();

  const pthread_t os_thread = pthread_self();
  std::atomic<Interrupt> interrupt{Interrupt::kNone};
  std::atomic<bool> interruptible{false};  // in a kernel, and not reporting about it
  Interrupt interrupted_by = Interrupt::kNone;

#if defined(CUDA_CPU_ASAN)
  void* home_fake_stack = nullptr;
  const void* home_bottom = nullptr;
  std::size_t home_size = 0;
#endif
#if defined(CUDA_CPU_TSAN)
  void* home_fiber = nullptr;
#endif

  /// Runs blocks of the grid until none is left or the grid has failed.
  void run(Grid& grid);

  void run_blocks();

  [[noreturn]] void run_threads(Stack* mine);
  bool take_block(Block* block);
  void begin_block(Block* block, std::uint64_t number);
  bool finish_block();
  Block* spare_block();
  void make_current(std::size_t live_position);
  void shuffle(Block* block);
  void new_round(Block* block);
  bool coin();

  /// The thread that runs next, made current; nullptr: a fresh runner is to start the next one.
  Thread* pick();
  void end_round();
  void rotate();
  void park(Stack* mine);
  Stack* take_stack();
  void go_home(Stack* mine);
  void clean_up_after_abandoning();

  void switch_to_thread(void** save, Thread* next);
  void switch_to_stack(void** save, Stack* next);
};

extern __thread Worker* current_worker;

/// The running thread must wait (its generation is set): lets others run, returns when it may go
/// on.
void reschedule(Thread* self);

/// The same for a thread that very likely finds the next one in the order ready to run.
inline void run_others(Block* block, Thread* self) {
  const std::uint32_t position = block->position + 1;
  if (position >= block->started) return reschedule(self);
  Thread* const next = &block->threads[block->order[position]];
  if (!runnable(*next)) return reschedule(self);
  block->position = position;
  current_thread = next;
  running_thread_index = next->index;
  if (next == self) return;
#if defined(CUDA_CPU_ASAN) || defined(CUDA_CPU_TSAN)
  current_worker->switch_to_thread(&self->context, next);
#else
  cuda_cpu_switch_context(&self->context, next->context);
#endif
}

/// Ends the wait of all threads that look at a constant generation.
extern const std::uint32_t kAlwaysRunnable;
extern const std::uint32_t kNeverRunnable;

/// A thread left the kernel while early returns are allowed: what the others wait for may be
/// complete now.
void leave_block(Block* block, unsigned thread);

/// The same, as far as warp operations go.
void complete_warp_operations_without(Block* block, unsigned thread);

/// "__shfl_down_sync"
const char* name_of(WarpOperation operation);
std::string hex(std::uint32_t mask);

/// Lanes of the block waiting in __activemask() are grouped by line and released. False if there
/// are none.
bool release_active_mask(Block* block);

/// Nothing in the block can run any more: prints who waits where, and who left where; returns the
/// CUDA error.
int report_stuck_block(const Block* block);

/// The watchdog's way out of a kernel.
[[noreturn]] void escape_from_interrupt(const Fault& fault, Interrupt why);

/// The same for a worker that was stopped for lack of progress, with its fault's pc.
int report_no_progress(const Worker* worker);

/// Where a given thread of the current block is.
Where where_is(const Block* block, const Thread* thread);

/// Shared memory: after every block (writes past dynamic shared memory into its padding), and where
/// TSan is to forget the block before. `finish` returns a CUDA error code.
void begin_shared(Block* block);
int finish_shared(Block* block);

/// For TSan: what it remembers about `thing`, a part of the block. It is another place for every
/// block, since their memory is used again, and one block's barrier orders nothing for the next.
void* tsan_object(const Block* block, const void* thing);

/// Watchdog. A worker is watched between these two.
void watch(Worker* worker);
void unwatch(Worker* worker);

/// Seconds without any progress before a kernel counts as hanging; 0 is never. And seconds in which
/// barriers opened, but no thread ended.
double watchdog_seconds();
double watchdog_barrier_seconds();

}  // namespace cuda_cpu
