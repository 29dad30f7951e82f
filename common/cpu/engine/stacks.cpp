// SPDX-License-Identifier: MIT
#include "stacks.h"

#include <sys/mman.h>

#include <atomic>

#include "../report/diagnostics.h"
#include "context.h"
#include "current.h"
#include "pages.h"
#include "sanitizers.h"
#include "scheduler.h"
#include "worker.h"

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
  run_threads(stack);
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

// All stacks lie in a few mappings, known here so that the fault handler can tell an overflow.
constexpr std::size_t kStacksPerSlab = 32;
constexpr std::size_t kMaxSlabs = 4096;
std::atomic<char*> stack_slabs[kMaxSlabs];  // where each begins
std::atomic<std::size_t> stack_slab_count{0};

// From a stack to the next: its guard page comes first.
std::size_t stack_step() { return page_bytes() + kStackBytes; }

// Where in its slab an address lies.
constexpr std::size_t kNowhere = ~std::size_t{0};
std::size_t offset_in_slab(const void* address) {
  const auto byte = reinterpret_cast<std::uintptr_t>(address);
  const std::size_t count = stack_slab_count.load();
  for (std::size_t i = 0; i < count && i < kMaxSlabs; ++i) {
    const auto begin = reinterpret_cast<std::uintptr_t>(stack_slabs[i].load());
    if (begin != 0 && byte - begin < stack_step() * kStacksPerSlab) return byte - begin;
  }
  return kNowhere;
}

void add_stacks(Worker* worker) {
  const std::size_t guard = page_bytes(), step = stack_step();
  const std::size_t number = stack_slab_count.fetch_add(1);
  if (number >= kMaxSlabs) die("out of memory for stacks");
  void* const mapped = mmap(nullptr, step * kStacksPerSlab + kAboveStack, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) die("out of memory for stacks");
  char* const base = static_cast<char*>(mapped);
  const auto close = [](char* begin, std::size_t bytes) {
    if (mprotect(begin, bytes, PROT_NONE) == 0) return;
    die("no guard page at a stack (vm.max_map_count too small?); try CUDA_CPU_WORKERS=1");
  };
  close(base + step * kStacksPerSlab, kAboveStack);
  stack_slabs[number].store(base);
  for (std::size_t i = 0; i < kStacksPerSlab; ++i) {
    close(base + i * step, guard);
    auto* const stack = new Stack;
    stack->bottom = base + i * step + guard;
    stack->fiber = tsan_new_fiber();
    worker->stacks.push_back(stack);
    make_runner(worker, worker->stacks.size() - 1);
  }
  // Stacks are taken from the back, so the first of them comes next.
  worker->free_stacks.insert(worker->free_stacks.end(), worker->stacks.rbegin(),
                             worker->stacks.rbegin() + kStacksPerSlab);
}

}  // namespace

Stack* take_stack(Worker* worker) {
  std::vector<Stack*>& free_stacks = worker->free_stacks;
  if constexpr (kTsan) {
    // Fibers are expensive, so they are used again. But what one did for an earlier CUDA thread
    // looks ordered before what it does for a later one. Taken in turn, none serves two blocks that
    // follow each other closely, so races between those are found.
    while (free_stacks.size() < 3 * worker->grid->threads_per_block) add_stacks(worker);
    Stack* const stack = free_stacks.front();
    free_stacks.erase(free_stacks.begin());
    return stack;
  }
  // The one that was used last is still in the cache.
  if (free_stacks.empty()) add_stacks(worker);
  Stack* const stack = free_stacks.back();
  free_stacks.pop_back();
  // The next one is taken as soon as this thread waits, too.
  if (!free_stacks.empty()) __builtin_prefetch(free_stacks.back()->context);
  return stack;
}

void renew_stacks(Worker* worker) {
  if constexpr (kTsan) {
    // The dropped threads' accesses come before all that follows, like those of threads that ended.
    // Their fibers are not used again.
    for (Stack* const stack : worker->stacks) {
      tsan_switch(stack->fiber);
      tsan_release(&worker->grid->blocks);
      tsan_switch(worker->home_fiber);
      tsan_destroy_fiber(stack->fiber);
      stack->fiber = tsan_new_fiber();
    }
  }
  for (std::size_t i = 0; i < worker->stacks.size(); ++i) make_runner(worker, i);
  worker->free_stacks.assign(worker->stacks.rbegin(), worker->stacks.rend());
}

bool is_stack_guard(const void* address) {
  const std::size_t offset = offset_in_slab(address);
  return offset != kNowhere && offset % stack_step() < page_bytes();
}

std::uintptr_t stack_at(const void* address) {
  const std::size_t offset = offset_in_slab(address);
  if (offset == kNowhere) return 0;
  return reinterpret_cast<std::uintptr_t>(address) - offset % stack_step();
}

}  // namespace cuda_cpu
