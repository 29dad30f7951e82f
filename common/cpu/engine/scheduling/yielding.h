// SPDX-License-Identifier: MIT
// Lets other threads run, from device code that polls.
#pragma once

#include "../state/uninstrumented.h"

namespace cuda_cpu {

/// Lets the other threads of the block run (spin loops, failed compare-and-swap, __nanosleep).
/// Reports say that the thread spins at `pc`; nullptr: where this is called.
void yield(const void* pc = nullptr);

/// A worker begins a kernel: its threads have whole turns, whatever the kernel before has left.
void begin_turns();

/// How many atomics are left until one of them yields.
extern __thread unsigned atomics_until_yield;

/// Call after every atomic, also a successful one. Now and then it yields, so that a loop that
/// polls with atomicAdd(p, 0) does not keep its block from running.
CUDA_CPU_UNINSTRUMENTED inline void count_atomic() {
  if (--atomics_until_yield == 0) yield();
}

/// In the body of each loop of device code that may poll, written there by the pre-pass: now and
/// then the other threads have their turn. Where the compiler tells of accesses (X-ray, races), the
/// volatile reads count instead, since a jump more in a loop would be counted.
#if defined(CUDA_CPU_XRAY)
#define CUDA_CPU_TURN
#else
#define CUDA_CPU_TURN ::cuda_cpu::count_turn()
#endif

extern __thread unsigned turns_until_yield;

/// yield(), of which the compiler must not think that it writes memory: a loop that polls a plain
/// variable, which nobody else may change, stays the endless loop that nvcc makes of it.
__attribute__((const)) int yield_unseen(int x);

CUDA_CPU_UNINSTRUMENTED inline void count_turn() {
  if (--turns_until_yield != 0) return;
  int x;
  __asm__ volatile("" : "=r"(x));  // unknown, so the call is made each time
  x = yield_unseen(x);
  __asm__ volatile("" : : "r"(x));
}

/// Before the read at `pc`: what others write meanwhile must not be read by an access that is noted
/// already.
inline void count_volatile_read(const void* pc) {
  if (--atomics_until_yield == 0) yield(pc);
}

}  // namespace cuda_cpu
