// SPDX-License-Identifier: MIT
// What ThreadSanitizer is told of fences. A CUDA atomic orders nothing by itself, and a fence alone
// does not either. Together they do, as in C++: what precedes a fence in one thread is visible
// behind a fence in another, if the first thread stored a value by an atomic behind its fence, and
// the second read it by an atomic before its own.
//
//   data = 1; __threadfence(); atomicInc(ticket)  ->  atomicInc(ticket); __threadfence(); read data
//
// Leave out either fence and the accesses to data race, whatever order they happened to run in.
#include "fences.h"

#include <cstdint>

#include "block.h"
#include "current.h"
#include "sanitizers.h"
#include "stacks.h"
#include "worker.h"

#if defined(CUDA_CPU_TSAN)

namespace cuda_cpu {

namespace {

std::uint64_t scattered(std::uint64_t value) { return value * 0x9e3779b97f4a7c15u; }

// Addresses of atomics, by a hash. Two that share a place only hide a race.
constexpr unsigned kPlaces = 64;

unsigned place_of_atomic(const void* address) {
  return static_cast<unsigned>(scattered(reinterpret_cast<std::uintptr_t>(address)) >> 58);
}

// What TSan remembers in these words: for barriers, by a hash again; for each place, all that
// fences have published together with values that were stored there; for each fence, what came
// before it. Fences use their words in turn. There is one worker under TSan, so none of this needs
// a lock.
std::uint64_t objects[1 << 16];
std::uint64_t published[kPlaces];
std::uint64_t fences[4096];
unsigned next_fence = 0;

// One fiber for each place, that carries what a fence has put down to what the place publishes: the
// CUDA thread itself would publish all that it did since.
void* carriers[kPlaces];

void* carrier(unsigned place) {
  if (carriers[place] == nullptr) carriers[place] = tsan_new_fiber();
  return carriers[place];
}

Stack* stack_of_current_thread() {
  return current_block->stacks[current_thread - current_block->threads];
}

}  // namespace

void* tsan_object(const Block* block, const void* thing) {
  const auto address = reinterpret_cast<std::uintptr_t>(thing);
  return &objects[scattered(address + scattered(block->serial)) >> 48];
}

void atomic_was_executed(const void* address, bool stored) {
  if (current_thread == nullptr) return;
  Stack* const stack = stack_of_current_thread();
  const unsigned place = place_of_atomic(address);
  stack->places_read |= std::uint64_t{1} << place;
  if (!stored || stack->last_fence == nullptr) return;
  // A fiber begins with what its creator knows: that shall be the host.
  tsan_switch(current_worker->home_fiber);
  tsan_switch(carrier(place));
  tsan_acquire(stack->last_fence);
  tsan_release(&published[place]);
  tsan_switch(stack->fiber);
}

void fence_was_executed() {
  if (current_thread == nullptr) return;
  Stack* const stack = stack_of_current_thread();
  for (unsigned place = 0; place < kPlaces; ++place) {
    if ((stack->places_read >> place & 1) != 0) tsan_acquire(&published[place]);
  }
  stack->last_fence = &fences[next_fence++ % (sizeof fences / sizeof *fences)];
  tsan_release(stack->last_fence);
}

// __ldg reads by a path on which nobody looks for what this kernel has written: the data must have
// been there before the launch. So a fiber reads them that knows what the host did until then, and
// nothing else.
void read_as_constant(const void* address, std::size_t bytes) {
  if (current_thread == nullptr) return;
  tsan_switch(current_worker->home_fiber);
  static void* const reader = tsan_new_fiber();
  tsan_switch(reader);
  tsan_acquire(&current_worker->grid->serial);
  // As if from the caller's line, which is what a report names.
  tsan_read(address, bytes, __builtin_return_address(0));
  tsan_release(&current_worker->grid->blocks);
  tsan_switch(stack_of_current_thread()->fiber);
}

}  // namespace cuda_cpu

#endif
