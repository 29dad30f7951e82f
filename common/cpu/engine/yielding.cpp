// SPDX-License-Identifier: MIT
#include "yielding.h"

#include "block.h"
#include "scheduler.h"
#include "switching.h"

namespace cuda_cpu {

namespace {

// A spin loop of successful atomics gets this many tries before others run.
constexpr unsigned kAtomicsPerTurn = 1024;

}  // namespace

__thread unsigned atomics_until_yield = kAtomicsPerTurn;

void yield() {
  atomics_until_yield = kAtomicsPerTurn;
  Thread* const self = current_thread;
  if (self == nullptr) return;
  self->wait = Wait::kYield;
  self->generation = &kAlwaysRunnable;
  self->seen = 0;
  self->pc = __builtin_return_address(0);
  reschedule(self);
}

}  // namespace cuda_cpu
