// SPDX-License-Identifier: MIT
// Two or four integers in one word: __vadd2, __vadd4 and their like, whose names end with the
// count. In the middle of a name s and u stand for signed and unsigned, ss and us for results that
// saturate.
#pragma once

#include <cstdint>
#include <type_traits>

namespace cuda_cpu {

template <class T>
constexpr int saturated(int value) {
  constexpr int kLeast = std::is_signed_v<T> ? -(1 << (8 * sizeof(T) - 1)) : 0;
  constexpr int kMost = (1 << (8 * sizeof(T) - (std::is_signed_v<T> ? 1 : 0))) - 1;
  return value < kLeast ? kLeast : value > kMost ? kMost : value;
}

}  // namespace cuda_cpu

// Loops in place, not functions that take lambdas: every program compiles these.
#define CUDA_CPU_PARTS(name, T, value)                                    \
  inline unsigned name(unsigned x, unsigned y) {                          \
    using Bits = std::make_unsigned_t<T>;                                 \
    unsigned result = 0;                                                  \
    for (unsigned at = 0; at < 32; at += 8 * sizeof(T)) {                 \
      const int a = static_cast<T>(x >> at), b = static_cast<T>(y >> at); \
      result |= unsigned{static_cast<Bits>(value)} << at;                 \
    }                                                                     \
    return result;                                                        \
  }
#define CUDA_CPU_PART(name, T, value)                     \
  inline unsigned name(unsigned x) {                      \
    using Bits = std::make_unsigned_t<T>;                 \
    unsigned result = 0;                                  \
    for (unsigned at = 0; at < 32; at += 8 * sizeof(T)) { \
      const int a = static_cast<T>(x >> at);              \
      result |= unsigned{static_cast<Bits>(value)} << at; \
    }                                                     \
    return result;                                        \
  }
#define CUDA_CPU_SUM(name, T, value)                                      \
  inline unsigned name(unsigned x, unsigned y) {                          \
    unsigned sum = 0;                                                     \
    for (unsigned at = 0; at < 32; at += 8 * sizeof(T)) {                 \
      const int a = static_cast<T>(x >> at), b = static_cast<T>(y >> at); \
      sum += static_cast<unsigned>(value);                                \
    }                                                                     \
    return sum;                                                           \
  }
// __vcmp... gives all bits of a part, __vset... its lowest.
#define CUDA_CPU_COMPARE(what, n, T, value)            \
  CUDA_CPU_PARTS(__vcmp##what##n, T, (value) ? -1 : 0) \
  CUDA_CPU_PARTS(__vset##what##n, T, (value) ? 1 : 0)
#define CUDA_CPU_SIMD(n, S, U)                                          \
  CUDA_CPU_PARTS(__vadd##n, U, a + b)                                   \
  CUDA_CPU_PARTS(__vaddss##n, S, cuda_cpu::saturated<S>(a + b))         \
  CUDA_CPU_PARTS(__vaddus##n, U, cuda_cpu::saturated<U>(a + b))         \
  CUDA_CPU_PARTS(__vsub##n, U, a - b)                                   \
  CUDA_CPU_PARTS(__vsubss##n, S, cuda_cpu::saturated<S>(a - b))         \
  CUDA_CPU_PARTS(__vsubus##n, U, cuda_cpu::saturated<U>(a - b))         \
  CUDA_CPU_PARTS(__vavgs##n, S, (a + b + (a + b >= 0 ? 1 : 0)) >> 1)    \
  CUDA_CPU_PARTS(__vavgu##n, U, (a + b + 1) >> 1)                       \
  CUDA_CPU_PARTS(__vhaddu##n, U, (a + b) >> 1)                          \
  CUDA_CPU_PARTS(__vabsdiffs##n, S, a < b ? b - a : a - b)              \
  CUDA_CPU_PARTS(__vabsdiffu##n, U, a < b ? b - a : a - b)              \
  CUDA_CPU_PARTS(__vmaxs##n, S, a < b ? b : a)                          \
  CUDA_CPU_PARTS(__vmaxu##n, U, a < b ? b : a)                          \
  CUDA_CPU_PARTS(__vmins##n, S, b < a ? b : a)                          \
  CUDA_CPU_PARTS(__vminu##n, U, b < a ? b : a)                          \
  CUDA_CPU_PART(__vabs##n, S, a < 0 ? -a : a)                           \
  CUDA_CPU_PART(__vabsss##n, S, cuda_cpu::saturated<S>(a < 0 ? -a : a)) \
  CUDA_CPU_PART(__vneg##n, S, -a)                                       \
  CUDA_CPU_PART(__vnegss##n, S, cuda_cpu::saturated<S>(-a))             \
  CUDA_CPU_SUM(__vsads##n, S, a < b ? b - a : a - b)                    \
  CUDA_CPU_SUM(__vsadu##n, U, a < b ? b - a : a - b)                    \
  CUDA_CPU_COMPARE(eq, n, U, a == b)                                    \
  CUDA_CPU_COMPARE(ne, n, U, a != b)                                    \
  CUDA_CPU_COMPARE(ges, n, S, a >= b)                                   \
  CUDA_CPU_COMPARE(geu, n, U, a >= b)                                   \
  CUDA_CPU_COMPARE(gts, n, S, a > b)                                    \
  CUDA_CPU_COMPARE(gtu, n, U, a > b)                                    \
  CUDA_CPU_COMPARE(les, n, S, a <= b)                                   \
  CUDA_CPU_COMPARE(leu, n, U, a <= b)                                   \
  CUDA_CPU_COMPARE(lts, n, S, a < b)                                    \
  CUDA_CPU_COMPARE(ltu, n, U, a < b)
CUDA_CPU_SIMD(2, std::int16_t, std::uint16_t)
CUDA_CPU_SIMD(4, std::int8_t, std::uint8_t)
#undef CUDA_CPU_SIMD
#undef CUDA_CPU_COMPARE
#undef CUDA_CPU_SUM
#undef CUDA_CPU_PART
#undef CUDA_CPU_PARTS
