// SPDX-License-Identifier: MIT
// Switches from one CUDA thread to the next. On one stack a *runner* calls the kernel for thread 0,
// then for thread 1, and so on: a kernel that never waits costs one call a thread. When a thread
// must wait, its stack stays with it, and a runner on another stack goes on with the next thread.
// When a thread ends, control is back in the runner under it, which by then has nothing left to
// start: it gives its stack back and switches to a thread that can run.
#pragma once

#include "block.h"
#include "context.h"
#include "current.h"
#include "sanitizers.h"

namespace cuda_cpu {

struct Stack;

/// Suspends the running context into `*save` and goes on with a thread that is suspended.
void switch_to_thread(void** save, Thread* next);

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
  if constexpr (kSanitized) {
    switch_to_thread(&self->context, next);
  } else {
    cuda_cpu_switch_context(&self->context, next->context);
  }
}

/// The thread on this stack has ended and there is none to start on it: the stack waits until a
/// block needs it again.
void park(Worker* worker, Stack* mine);

/// No block is left for this worker: back to its own loop. Returns when the next grid starts here.
void go_home(Worker* worker, Stack* mine);

}  // namespace cuda_cpu
