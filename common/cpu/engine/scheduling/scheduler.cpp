// SPDX-License-Identifier: MIT
#include "scheduler.h"

#include <algorithm>

#include "../diagnosis/stuck.h"
#include "../memory/stacks.h"
#include "../state/block.h"
#include "../state/current.h"
#include "../state/leaving.h"
#include "../state/sanitizers.h"
#include "../state/worker.h"
#include "meetings.h"
#include "resident_blocks.h"

namespace cuda_cpu {

namespace {

// Rounds in which every thread only yielded, before another block gets its turn: a lock that is
// held for a few rounds should not make a second block resident.
constexpr unsigned kIdleRounds = 16;

// Also where another worker has just opened it.
bool all_at_grid_barrier(const Block* block) {
  return std::all_of(block->threads, block->threads + block->count, [](const Thread& thread) {
    return !thread.finished && thread.wait == Wait::kGrid;
  });
}

void end_round(Worker* worker) {
  Block* const block = current_block;
  if (const int error = worker->grid->error.load(std::memory_order_relaxed)) abandon_grid(error);
  // The watchdog's signal does not reach a worker that sleeps in rotate_blocks().
  const Exit why = worker->interrupt.load();
  if (why != Exit::kNone) leave_kernel(why);
  new_round(worker, block);
  const bool idle = worker->progress() == block->progress_seen;
  block->progress_seen = worker->progress();
  if (std::any_of(block->threads, block->threads + block->count, runnable)) {
    block->idle_rounds = idle ? block->idle_rounds + 1 : 0;
    if (block->idle_rounds < kIdleRounds) return;
    // Every thread only yields. They wait for something that another block must do, or for a lane
    // that is held in __activemask.
    block->idle_rounds = 0;
    meetings.nothing_runs(block);
    rotate_blocks(worker);
    return;
  }
  if (meetings.nothing_runs(block)) return;
  if (all_at_grid_barrier(block)) {
    rotate_blocks(worker);
    return;
  }
  abandon_grid(report_stuck_block(block));
}

void start_thread(Stack* mine, Block* block) {
  const std::uint32_t number = block->order[block->started];
  block->position = block->started++;
  Thread* const thread = &block->threads[number];
  thread->wait = Wait::kNothing;
  thread->finished = false;
  current_thread = thread;
  running_thread_index = thread->index;
  if constexpr (kAsan) block->stacks[number] = mine;
}

void end_thread(Worker* worker, Block* block, Thread* thread) {
  leave_step(block);
  thread->generation = &thread->seen;  // never runnable
  thread->finished = true;
  ++block->finished;
  ++worker->ended;
}

// The thread that runs next, made current; nullptr: a fresh runner must start the next one.
Thread* pick_thread(Worker* worker) {
  for (;;) {
    Block* const block = current_block;
    for (std::uint32_t i = block->position + 1; i < block->started; ++i) {
      Thread* const thread = &block->threads[block->order[i]];
      if (!runnable(*thread)) continue;
      block->position = i;
      current_thread = thread;
      running_thread_index = thread->index;
      return thread;
    }
    if (block->started < block->count) return nullptr;
    end_round(worker);
  }
}

// Suspends the running context into `*save` and goes on with another one, on the stack given.
void switch_to(const void* bottom, std::size_t size, void** save, void* context) {
  void* fake_stack = nullptr;
  asan_leave(&fake_stack, bottom, size);
  cuda_cpu_switch_context(save, context);
  asan_arrive(fake_stack);
}

// The same, to the runner of a stack that is taken.
void switch_to_stack(void** save, Stack* next) {
  switch_to(next->bottom, kStackBytes, save, next->context);
}

// Where ASan looks on: the stack has no thread to start, and waits until a block needs it again,
// while `next` goes on, or if it is null, a runner.
void park(Worker* worker, Stack* mine, Thread* next) {
  worker->free_stacks.push_back(mine);
  if (next != nullptr) return switch_to_thread(&mine->context, next);
  Stack* const runner = take_stack(worker);
  if (runner != mine) switch_to_stack(&mine->context, runner);
}

// No block is left for this worker: back to its own loop. Returns when the next grid starts here.
void go_home(Worker* worker, Stack* mine) {
  worker->free_stacks.push_back(mine);
  switch_to(worker->home_bottom, worker->home_size, &mine->context, worker->home_context);
}

// Lets the current thread go on, which has a stack of its own.
void give_way(void* stack) {
  auto* const mine = static_cast<Stack*>(stack);
  cuda_cpu_switch_context(&mine->context, current_thread->context);
}

// The runner has no thread of its block to start, at least not here. False: now it has.
__attribute__((noinline)) bool gives_way(Worker* worker, Stack* mine) {
  Block* const block = current_block;
  if (block->finished == block->count) {
    if (!finish_block(worker)) go_home(worker, mine);
    return false;
  }
  Thread* next = next_in_order(current_block);
  if (next == nullptr) next = pick_thread(worker);
  if (kAsan) {
    park(worker, mine, next);
    return false;
  }
  if (next != nullptr) worker->free_stacks.push_back(mine);
  return next != nullptr;
}

}  // namespace

void run_threads(Stack* mine) {
  Worker* const worker = current_worker;
  for (;;) {
    Block* const block = current_block;
    void (*function)(void*) = give_way;
    void* argument = mine;
    if (block->started < block->count) {
      start_thread(mine, block);
      function = worker->grid->launch->body;
      argument = worker->grid->launch->closure;
    } else if (!gives_way(worker, mine)) {
      continue;
    }
    // One call for both: where a thread returns to, when others have let it go on, is then always
    // the same place, and the processor foresees it. The empty statement keeps it one call.
    __asm__("" : "+r"(function));
    function(argument);
    if (function != give_way) end_thread(worker, block, current_thread);
  }
}

void switch_to_thread(void** save, Thread* next) {
  if (!kAsan) return cuda_cpu_switch_context(save, next->context);
  Stack* const stack = stack_of(next);
  switch_to(stack->bottom, kStackBytes, save, next->context);
}

void leave_step(Block* block) {
  if (block->step_line < 0) return;
  const bool none_waits = block->step_line == 0;
  block->step_line = -1;
  if (none_waits) return;
  for (Thread* thread = block->threads; thread != current_thread; ++thread) {
    thread->file = block->file;
    thread->line = block->line;
    thread->which = 0;
    thread->wait = Wait::kBarrier;
    thread->seen = block->epoch;
    block->position = ++block->arrived;
  }
}

void reschedule(Thread* self) {
  leave_step(current_block);
  Worker* const worker = current_worker;
  Thread* const next = pick_thread(worker);
  if (next == self) return;
  if (next != nullptr) {
    switch_to_thread(&self->context, next);
  } else {
    switch_to_stack(&self->context, take_stack(worker));
  }
}

}  // namespace cuda_cpu
