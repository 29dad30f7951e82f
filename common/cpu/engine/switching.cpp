// SPDX-License-Identifier: MIT
#include "switching.h"

#include "barriers.h"
#include "scheduler.h"

namespace cuda_cpu {

namespace {

[[maybe_unused]] Stack* stack_of(const Thread* thread) {
  return current_block->stacks[thread - current_block->threads];
}

// To a runner, which is the worker itself.
void switch_to_stack(Worker* worker, void** save, Stack* next) {
  void* fake_stack = nullptr;
  asan_leave(&fake_stack, next->bottom, next->size);
  tsan_switch(worker->home_fiber);
  cuda_cpu_switch_context(save, next->context);
  asan_arrive(fake_stack);
}

}  // namespace

void switch_to_thread(void** save, Thread* next) {
  void* fake_stack = nullptr;
  if constexpr (kSanitized) {
    Stack* const stack = stack_of(next);
    asan_leave(&fake_stack, stack->bottom, stack->size);
    tsan_switch(stack->fiber);
  }
  cuda_cpu_switch_context(save, next->context);
  asan_arrive(fake_stack);
}

void reschedule(Thread* self) {
  leave_step(current_block);
  Worker* const worker = current_worker;
  tsan_switch(worker->home_fiber);  // the CUDA thread's part ends here
  Thread* const next = pick_thread(worker);
  if (next == self) {
    if constexpr (kTsan) tsan_switch(stack_of(self)->fiber);
    return;
  }
  if (next != nullptr) {
    switch_to_thread(&self->context, next);
  } else {
    switch_to_stack(worker, &self->context, take_stack(worker));
  }
}

void park(Worker* worker, Stack* mine, Thread* next) {
  worker->free_stacks.push_back(mine);
  if (next != nullptr) return switch_to_thread(&mine->context, next);
  Stack* const runner = take_stack(worker);
  if (runner != mine) switch_to_stack(worker, &mine->context, runner);
}

void go_home(Worker* worker, Stack* mine) {
  worker->free_stacks.push_back(mine);
  void* fake_stack = nullptr;
  asan_leave(&fake_stack, worker->home_bottom, worker->home_size);
  cuda_cpu_switch_context(&mine->context, worker->home_context);
  // The next grid starts here.
  asan_arrive(fake_stack);
}

}  // namespace cuda_cpu
