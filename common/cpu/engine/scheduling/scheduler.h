// SPDX-License-Identifier: MIT
// Decides which thread of a block runs next, and switches to it.
//
// On one stack a *runner* calls the kernel for thread 0, then for thread 1, and so on: a kernel
// that never waits costs one call a thread. When a thread must wait, its stack stays with it, and a
// runner on another stack goes on with the next thread. When a thread ends, control is back in the
// runner under it, which by then has nothing left to start: it gives its stack back and switches to
// a thread that can run.
#pragma once

#include "../memory/stacks.h"
#include "../state/block.h"
#include "../state/current.h"
#include "../state/sanitizers.h"
#include "context.h"
#include "runners.h"

namespace cuda_cpu {

/// A runner's loop on its stack: starts the threads of one block after the other.
[[noreturn]] void run_threads(Stack* mine);

/// Suspends the running context into `*save` and goes on with a thread that is suspended.
void switch_to_thread(void** save, Thread* next);

/// The stack of a thread of the running block; only sanitizers ask.
inline Stack* stack_of(const Thread* thread) {
  return current_block->stacks[thread - current_block->threads];
}

/// The running thread does something else than come to a barrier: if its block was in step, it is
/// written down now which threads wait.
void leave_step(Block* block);

/// The running thread must wait (its generation is set): lets others run, returns when it may go
/// on.
void reschedule(Thread* self);

/// Makes the next thread in the order the running one, if it can run; else null.
inline Thread* next_in_order(Block* block) {
  const std::uint32_t position = block->position + 1;
  if (position >= block->started) return nullptr;
  Thread* const next = &block->threads[block->order[position]];
  if (!runnable(*next)) return nullptr;
  // Much of what a switch costs is waiting for the other stack, so the one after it is on its way
  // by then. order has an entry more than the block has threads.
  const Thread& after = block->threads[block->order[position + 1]];
  __builtin_prefetch(after.context);
  __builtin_prefetch(static_cast<const char*>(after.context) + 64);
  block->position = position;
  current_thread = next;
  running_thread_index = next->index;
  return next;
}

/// reschedule() for a thread that very likely finds the next one in the order ready to run or to
/// start.
inline void run_others(Block* block, Thread* self) {
  Thread* const next = next_in_order(block);
  if (next == nullptr) {
    const bool starts = block->position + 1 == block->started && block->started < block->count;
    if (kAsan || !starts) return reschedule(self);
    return cuda_cpu_switch_context(&self->context, take_stack(current_worker)->context);
  }
  if (next != self) switch_to_thread(&self->context, next);
}

}  // namespace cuda_cpu
