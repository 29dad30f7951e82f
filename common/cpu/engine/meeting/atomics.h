// SPDX-License-Identifier: MIT
// CUDA's atomic functions. Each returns the old value. The overloads are the toolkit's: atomicAdd
// on a long is an error here, as it is there.
#pragma once

#include <cstring>

#include "../scheduling/yielding.h"
#include "../state/uninstrumented.h"
#if defined(CUDA_CPU_XRAY)
#include "../state/hooks.h"
#endif

namespace cuda_cpu {

// X-ray counts an atomic as one access: its parts are not instrumented, and it reports itself.
#if defined(CUDA_CPU_XRAY)
#define CUDA_CPU_ATOMIC_BEGINS(address, kind) \
  ::cuda_cpu::atomic_begins(address, sizeof(*(address)), ::cuda_cpu::AtomicKind::kind, kBlockOnly)
// `value` makes the atomic an increment, if the compiler knows it.
#define CUDA_CPU_INCREMENT_BEGINS(address, value, increment) \
  if (__builtin_constant_p(value) && (value) == increment) { \
    CUDA_CPU_ATOMIC_BEGINS(address, kIncrement);             \
  } else {                                                   \
    CUDA_CPU_ATOMIC_BEGINS(address, kOther);                 \
  }
#define CUDA_CPU_ATOMIC_FUNCTION __attribute__((always_inline)) inline
#define CUDA_CPU_ATOMIC_BODY CUDA_CPU_UNINSTRUMENTED
#else
#define CUDA_CPU_ATOMIC_BEGINS(address, kind) static_cast<void>(0)
#define CUDA_CPU_INCREMENT_BEGINS(address, value, increment) static_cast<void>(0)
// The pre-pass puts it after an atomic that is a whole statement.
inline void result_is_unused() {}
#define CUDA_CPU_ATOMIC_FUNCTION inline
#define CUDA_CPU_ATOMIC_BODY
#endif

template <class T>
CUDA_CPU_ATOMIC_BODY inline bool exchange_if_equal(T* address, T* expected, T desired) {
  // Acquire and release cost little on a CPU, and a program that lacks a fence then behaves the
  // same on every CPU.
  return __atomic_compare_exchange(address, expected, &desired, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE);
}

template <class T, class Operation>
CUDA_CPU_ATOMIC_BODY inline T atomic_update(T* address, Operation operation) {
  T old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  while (!exchange_if_equal(address, &old, static_cast<T>(operation(old)))) {
  }
  count_atomic();
  return old;
}

template <class T>
CUDA_CPU_ATOMIC_BODY inline T atomic_add(T* address, T value) {
  if constexpr (T(1) / T(2) == T(0)) {  // an integer
    const T old = __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
    count_atomic();
    return old;
  } else {
    return atomic_update(address, [value](T old) { return static_cast<T>(old + value); });
  }
}

template <class T>
CUDA_CPU_ATOMIC_BODY inline T atomic_exchange(T* address, T value) {
  T old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  while (!exchange_if_equal(address, &old, value)) {
  }
  // Nothing changed: perhaps a lock is still taken, and its owner should get to run.
  if (std::memcmp(&old, &value, sizeof(T)) == 0) {
    yield();
  } else {
    count_atomic();
  }
  return old;
}

template <class T>
CUDA_CPU_ATOMIC_BODY inline T atomic_compare_and_swap(T* address, T compare, T value) {
  T old = compare;
  if (exchange_if_equal(address, &old, value)) {
    count_atomic();
  } else {
    yield();
  }
  return old;
}

}  // namespace cuda_cpu

// One CUDA function for one type, with its variants of narrower and wider scope.
#define CUDA_CPU_ATOMIC_NAME(name, block_only, T, parameters, begins, body) \
  CUDA_CPU_ATOMIC_FUNCTION T name parameters {                              \
    [[maybe_unused]] constexpr bool kBlockOnly = block_only;                \
    begins;                                                                 \
    return body;                                                            \
  }

#define CUDA_CPU_ATOMIC_SCOPES(name, T, parameters, begins, body)       \
  CUDA_CPU_ATOMIC_NAME(name, false, T, parameters, begins, body)        \
  CUDA_CPU_ATOMIC_NAME(name##_block, true, T, parameters, begins, body) \
  CUDA_CPU_ATOMIC_NAME(name##_system, false, T, parameters, begins, body)

#define CUDA_CPU_ATOMIC(name, T, body)                                                             \
  CUDA_CPU_ATOMIC_SCOPES(name, T, (T * address, T value), CUDA_CPU_ATOMIC_BEGINS(address, kOther), \
                         body)
// The same, where the value `increment` is an increment.
#define CUDA_CPU_ATOMIC_INCREMENT(name, T, increment, body) \
  CUDA_CPU_ATOMIC_SCOPES(name, T, (T * address, T value),   \
                         CUDA_CPU_INCREMENT_BEGINS(address, value, increment), body)

// The same, where `updated` says how the new value follows from the `old` one.
#define CUDA_CPU_ATOMIC_UPDATE(name, T, updated) \
  CUDA_CPU_ATOMIC(name, T, cuda_cpu::atomic_update(address, [value](T old) { return updated; }))

CUDA_CPU_ATOMIC_INCREMENT(atomicAdd, int, 1, cuda_cpu::atomic_add(address, value))
CUDA_CPU_ATOMIC_INCREMENT(atomicAdd, unsigned, 1u, cuda_cpu::atomic_add(address, value))
CUDA_CPU_ATOMIC(atomicAdd, unsigned long long, cuda_cpu::atomic_add(address, value))
CUDA_CPU_ATOMIC(atomicAdd, float, cuda_cpu::atomic_add(address, value))
CUDA_CPU_ATOMIC(atomicAdd, double, cuda_cpu::atomic_add(address, value))

// Subtraction through unsigned: it wraps, as on a GPU.
CUDA_CPU_ATOMIC(atomicSub, int,
                cuda_cpu::atomic_add(address, static_cast<int>(0u - static_cast<unsigned>(value))))
CUDA_CPU_ATOMIC(atomicSub, unsigned, cuda_cpu::atomic_add(address, 0u - value))

#define CUDA_CPU_ATOMIC_EXCHANGE(T)                                  \
  CUDA_CPU_ATOMIC_SCOPES(atomicExch, T, (T * address, T value),      \
                         CUDA_CPU_ATOMIC_BEGINS(address, kExchange), \
                         cuda_cpu::atomic_exchange(address, value))

CUDA_CPU_ATOMIC_EXCHANGE(int)
CUDA_CPU_ATOMIC_EXCHANGE(unsigned)
CUDA_CPU_ATOMIC_EXCHANGE(unsigned long long)
CUDA_CPU_ATOMIC_EXCHANGE(float)

#define CUDA_CPU_ATOMIC_MIN_MAX(T)                                \
  CUDA_CPU_ATOMIC_UPDATE(atomicMin, T, value < old ? value : old) \
  CUDA_CPU_ATOMIC_UPDATE(atomicMax, T, value > old ? value : old)

CUDA_CPU_ATOMIC_MIN_MAX(int)
CUDA_CPU_ATOMIC_MIN_MAX(unsigned)
CUDA_CPU_ATOMIC_MIN_MAX(long long)
CUDA_CPU_ATOMIC_MIN_MAX(unsigned long long)

#define CUDA_CPU_ATOMIC_BITS(T)                    \
  CUDA_CPU_ATOMIC_UPDATE(atomicAnd, T, old& value) \
  CUDA_CPU_ATOMIC_UPDATE(atomicOr, T, old | value) \
  CUDA_CPU_ATOMIC_UPDATE(atomicXor, T, old ^ value)

CUDA_CPU_ATOMIC_BITS(int)
CUDA_CPU_ATOMIC_BITS(unsigned)
CUDA_CPU_ATOMIC_BITS(unsigned long long)

// Counters that wrap: up from 0 to `value` and back to 0; down from `value` to 0 and back to
// `value`.
CUDA_CPU_ATOMIC_INCREMENT(atomicInc, unsigned, ~0u,
                          cuda_cpu::atomic_update(address, [value](unsigned old) {
                            return old >= value ? 0u : old + 1;
                          }))
CUDA_CPU_ATOMIC_UPDATE(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)

#define CUDA_CPU_ATOMIC_CAS(T)                                             \
  CUDA_CPU_ATOMIC_SCOPES(atomicCAS, T, (T * address, T compare, T value),  \
                         CUDA_CPU_ATOMIC_BEGINS(address, kCompareAndSwap), \
                         cuda_cpu::atomic_compare_and_swap(address, compare, value))

CUDA_CPU_ATOMIC_CAS(int)
CUDA_CPU_ATOMIC_CAS(unsigned)
CUDA_CPU_ATOMIC_CAS(unsigned long long)
CUDA_CPU_ATOMIC_CAS(unsigned short)

// The others are for short_floats.h, which a program may include later.
#undef CUDA_CPU_ATOMIC_CAS
#undef CUDA_CPU_ATOMIC_EXCHANGE
#undef CUDA_CPU_ATOMIC_BITS
#undef CUDA_CPU_ATOMIC_MIN_MAX
#undef CUDA_CPU_ATOMIC_INCREMENT
#undef CUDA_CPU_INCREMENT_BEGINS
