// SPDX-License-Identifier: MIT
#include "yielding.h"

#include "../state/block.h"
#include "scheduler.h"

namespace cuda_cpu {

namespace {

// A spin loop of successful atomics gets this many tries before others run; a loop without atomics
// so many iterations, more because most loops poll nothing.
constexpr unsigned kAtomicsPerTurn = 1024;
constexpr unsigned kIterationsPerTurn = 16384;

}  // namespace

__thread unsigned atomics_until_yield = kAtomicsPerTurn;
__thread unsigned turns_until_yield = kIterationsPerTurn;

void begin_turns() {
  atomics_until_yield = kAtomicsPerTurn;
  turns_until_yield = kIterationsPerTurn;
}

void yield(const void* pc) {
  begin_turns();
  Thread* const self = current_thread;
  if (self == nullptr) return;
  self->wait = Wait::kYield;
  self->generation = &kAlwaysRunnable;
  self->seen = 0;
  self->pc = pc != nullptr ? pc : __builtin_return_address(0);
  reschedule(self);
}

int yield_unseen(int x) {
  yield(__builtin_return_address(0));
  return x;
}

}  // namespace cuda_cpu
