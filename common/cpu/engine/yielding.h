// SPDX-License-Identifier: MIT
// Lets other threads run, from device code that polls.
#pragma once

#include "uninstrumented.h"

namespace cuda_cpu {

/// Lets the other threads of the block run (spin loops, failed compare-and-swap, __nanosleep).
void yield();

/// How many atomics are left until one of them yields.
extern __thread unsigned atomics_until_yield;

/// Call after every atomic, also a successful one. Now and then it yields, so that a loop that
/// polls with atomicAdd(p, 0) does not keep its block from running.
CUDA_CPU_UNINSTRUMENTED inline void count_atomic() {
  if (--atomics_until_yield == 0) yield();
}

}  // namespace cuda_cpu
