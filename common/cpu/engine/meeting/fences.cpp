// SPDX-License-Identifier: MIT
// Tells ThreadSanitizer about fences. A CUDA atomic orders nothing by itself, and neither does a
// fence. Together they do, as in C++: what comes before a fence in one thread is visible after a
// fence in another, if the first thread stored a value with an atomic after its fence, and the
// second read that value with an atomic before its own.
//
//   data = 1; __threadfence(); atomicInc(ticket)  ->  atomicInc(ticket); __threadfence(); read data
//
// An atomic of cuda::atomic_ref can do both parts itself, for what goes through its address.
//
// Without either fence the accesses to `data` race, whatever order they happened to run in.
#include "fences.h"

#include <cstdint>

#include "../memory/stacks.h"
#include "../scheduling/scheduler.h"
#include "../state/block.h"
#include "../state/current.h"
#include "../state/sanitizers.h"
#include "../state/worker.h"

#if defined(CUDA_CPU_TSAN)

namespace cuda_cpu {

namespace {

std::uint64_t scattered(std::uint64_t value) { return value * 0x9e3779b97f4a7c15u; }

// Addresses of atomics are hashed to slots. Two in one slot can only hide a race.
constexpr unsigned kSlots = 64;

unsigned slot_of_atomic(const void* address) {
  return static_cast<unsigned>(scattered(reinterpret_cast<std::uintptr_t>(address)) >> 58);
}

// TSan attaches what it remembers to these words. Barriers are hashed to `objects`. A slot's word
// in `published` stands for all that fences have published with values stored there; a word in
// `fences`, for what came before one fence. Fences use their words in turn. There is one worker
// under TSan, so none of this needs a lock.
std::uint64_t objects[1 << 16];
std::uint64_t published[kSlots];
std::uint64_t fences[4096];
unsigned next_fence = 0;

// Each slot has a fiber that carries what a fence has put down to what the slot publishes. The CUDA
// thread itself would publish all that it did since the fence.
void* carriers[kSlots];

void* carrier(unsigned slot) {
  if (carriers[slot] == nullptr) carriers[slot] = tsan_new_fiber();
  return carriers[slot];
}

// Publishes what came before `fence` with a value stored at an address of this slot.
void publish(unsigned slot, void* fence, Stack* stack) {
  // A fiber begins with what its creator knows, so the host must create it.
  tsan_switch(current_worker->home_fiber);
  tsan_switch(carrier(slot));
  tsan_acquire(fence);
  tsan_release(&published[slot]);
  tsan_switch(stack->fiber);
}

// What the current thread has done so far, put down for others.
void* new_fence() {
  void* const fence = &fences[next_fence++ % (sizeof fences / sizeof *fences)];
  tsan_release(fence);
  return fence;
}

}  // namespace

void* tsan_object(const Block* block, const void* thing) {
  const auto address = reinterpret_cast<std::uintptr_t>(thing);
  return &objects[scattered(address + scattered(block->serial)) >> 48];
}

// An order of the atomic's own holds for its address alone, without fences. What narrower scopes
// publish goes to a slot that the threads of one block share, and no other block.
void atomic_was_executed(const void* address, bool stored, bool acquires, bool releases,
                         bool block_only) {
  if (current_thread == nullptr) return;
  Stack* const stack = stack_of(current_thread);
  const void* const object = block_only ? tsan_object(current_block, address) : address;
  const unsigned slot = slot_of_atomic(object);
  stack->slots_read |= std::uint64_t{1} << slot;
  if (stored && releases) {
    publish(slot, new_fence(), stack);
  } else if (stored && stack->last_fence != nullptr) {
    publish(slot, stack->last_fence, stack);
  }
  if (acquires) tsan_acquire(&published[slot]);
}

void fence_was_executed() {
  if (current_thread == nullptr) return;
  Stack* const stack = stack_of(current_thread);
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    if ((stack->slots_read >> slot & 1) != 0) tsan_acquire(&published[slot]);
  }
  stack->last_fence = new_fence();
}

// __ldg reads by a path that need not see what this kernel has written: the data must have been
// there before the launch. So the read is made on a fiber that knows what the host did until then,
// and nothing else.
void read_as_constant(const void* address, std::size_t bytes) {
  if (current_thread == nullptr) return;
  tsan_switch(current_worker->home_fiber);
  static void* const reader = tsan_new_fiber();
  tsan_switch(reader);
  tsan_acquire(&current_worker->grid->serial);
  // As if from the caller's line, so that a report names it.
  tsan_read(address, bytes, __builtin_return_address(0));
  tsan_release(&current_worker->grid->blocks);
  tsan_switch(stack_of(current_thread)->fiber);
}

}  // namespace cuda_cpu

#endif
