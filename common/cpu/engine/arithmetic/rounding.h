// SPDX-License-Identifier: MIT
// Arithmetic and conversions that round: _rn to the nearest, _rz towards zero, _ru up, _rd down.
#pragma once

#include <cmath>

namespace cuda_cpu {

/// Keeps the compiler from fusing a product into a sum: __fmul_rn(a, b) + c rounds twice.
template <class T>
inline T rounded(T value) {
#if defined(__x86_64__) || defined(__i386__)
  __asm__("" : "+x"(value));
#elif defined(__aarch64__)
  __asm__("" : "+w"(value));
#else
  __asm__("" : "+m"(value));
#endif
  return value;
}

}  // namespace cuda_cpu

// Result, name, parameters, and what is rounded; `now` reads a parameter.
#define CUDA_CPU_ROUNDED_FUNCTIONS(now)                                                          \
  CUDA_CPU_ROUNDED(float, __fadd, (float x, float y), now(x) + now(y))                           \
  CUDA_CPU_ROUNDED(float, __fsub, (float x, float y), now(x) - now(y))                           \
  CUDA_CPU_ROUNDED(float, __fmul, (float x, float y), now(x) * now(y))                           \
  CUDA_CPU_ROUNDED(float, __fdiv, (float x, float y), now(x) / now(y))                           \
  CUDA_CPU_ROUNDED(float, __fmaf, (float x, float y, float z), std::fma(now(x), now(y), now(z))) \
  CUDA_CPU_ROUNDED(float, __frcp, (float x), 1.0F / now(x))                                      \
  CUDA_CPU_ROUNDED(float, __fsqrt, (float x), std::sqrt(now(x)))                                 \
  CUDA_CPU_ROUNDED(double, __dadd, (double x, double y), now(x) + now(y))                        \
  CUDA_CPU_ROUNDED(double, __dsub, (double x, double y), now(x) - now(y))                        \
  CUDA_CPU_ROUNDED(double, __dmul, (double x, double y), now(x) * now(y))                        \
  CUDA_CPU_ROUNDED(double, __ddiv, (double x, double y), now(x) / now(y))                        \
  CUDA_CPU_ROUNDED(double, __fma, (double x, double y, double z),                                \
                   std::fma(now(x), now(y), now(z)))                                             \
  CUDA_CPU_ROUNDED(double, __drcp, (double x), 1.0 / now(x))                                     \
  CUDA_CPU_ROUNDED(double, __dsqrt, (double x), std::sqrt(now(x)))                               \
  CUDA_CPU_ROUNDED(float, __double2float, (double x), static_cast<float>(now(x)))                \
  CUDA_CPU_ROUNDED(float, __int2float, (int x), static_cast<float>(now(x)))                      \
  CUDA_CPU_ROUNDED(float, __uint2float, (unsigned x), static_cast<float>(now(x)))                \
  CUDA_CPU_ROUNDED(float, __ll2float, (long long x), static_cast<float>(now(x)))                 \
  CUDA_CPU_ROUNDED(float, __ull2float, (unsigned long long x), static_cast<float>(now(x)))       \
  CUDA_CPU_ROUNDED(double, __ll2double, (long long x), static_cast<double>(now(x)))              \
  CUDA_CPU_ROUNDED(double, __ull2double, (unsigned long long x), static_cast<double>(now(x)))

#define CUDA_CPU_ROUNDED(type, name, parameters, expression)                 \
  inline type name##_rn parameters { return cuda_cpu::rounded(expression); } \
  type name##_rz parameters;                                                 \
  type name##_ru parameters;                                                 \
  type name##_rd parameters;

CUDA_CPU_ROUNDED_FUNCTIONS()

#undef CUDA_CPU_ROUNDED
