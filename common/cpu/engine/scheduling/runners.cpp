// SPDX-License-Identifier: MIT
#include "runners.h"

#include <vector>

#include "../memory/stacks.h"
#include "../state/current.h"
#include "../state/sanitizers.h"
#include "../state/worker.h"
#include "context.h"

namespace cuda_cpu {

namespace {

void run_on_new_stack(void* argument) {
  auto* const stack = static_cast<Stack*>(argument);
  const void* bottom = nullptr;
  std::size_t size = 0;
  asan_arrive(nullptr, &bottom, &size);
  if (current_worker->home_bottom == nullptr) {
    // The very first switch comes from the OS thread's stack.
    current_worker->home_bottom = bottom;
    current_worker->home_size = size;
  }
  current_worker->run_threads(stack);
}

// Where on its stack the runner with this number starts. Tops that are all page-aligned would
// compete for the same few sets of the L1 cache.
std::size_t stack_shift(std::size_t number) { return number % 64 * 64; }

void make_runner(Worker* worker, std::size_t number) {
  Stack* const stack = worker->stacks[number];
  asan_unpoison(stack->bottom, kStackBytes);
  stack->context = cuda_cpu_new_context(stack->bottom + kStackBytes - stack_shift(number),
                                        run_on_new_stack, stack);
}

void add_stacks(Worker* worker) {
  const std::vector<Stack*> added = map_stacks();
  for (Stack* const stack : added) {
    worker->stacks.push_back(stack);
    make_runner(worker, worker->stacks.size() - 1);
  }
  // Stacks are taken from the back, so the first of them comes next.
  worker->free_stacks.insert(worker->free_stacks.end(), added.rbegin(), added.rend());
}

}  // namespace

Stack* take_stack(Worker* worker) {
  std::vector<Stack*>& free_stacks = worker->free_stacks;
  // The one that was used last is still in the cache.
  if (free_stacks.empty()) add_stacks(worker);
  Stack* const stack = free_stacks.back();
  free_stacks.pop_back();
  // The next one is taken as soon as this thread waits, too.
  if (!free_stacks.empty()) __builtin_prefetch(free_stacks.back()->context);
  return stack;
}

void renew_stacks(Worker* worker) {
  for (std::size_t i = 0; i < worker->stacks.size(); ++i) make_runner(worker, i);
  worker->free_stacks.assign(worker->stacks.rbegin(), worker->stacks.rend());
}

}  // namespace cuda_cpu
