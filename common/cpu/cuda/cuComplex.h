// SPDX-License-Identifier: MIT
// Stands in for <cuComplex.h> on the CPU backend: complex numbers in float2 and double2. Division
// and the absolute value scale first, so that a result that can be represented does not overflow on
// the way.
#pragma once

#include <cmath>

#include "../types/vector_types.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define CUDA_CPU_COMPLEX(Complex, Number, f)                                               \
  inline Complex make_##Complex(Number x, Number y) { return Complex{x, y}; }              \
  inline Number cuCreal##f(Complex a) { return a.x; }                                      \
  inline Number cuCimag##f(Complex a) { return a.y; }                                      \
  inline Complex cuConj##f(Complex a) { return Complex{a.x, -a.y}; }                       \
  inline Complex cuCadd##f(Complex a, Complex b) { return Complex{a.x + b.x, a.y + b.y}; } \
  inline Complex cuCsub##f(Complex a, Complex b) { return Complex{a.x - b.x, a.y - b.y}; } \
  inline Complex cuCmul##f(Complex a, Complex b) {                                         \
    return Complex{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                          \
  }                                                                                        \
  inline Complex cuCdiv##f(Complex a, Complex b) {                                         \
    const Number one = 1, scale = one / (std::fabs(b.x) + std::fabs(b.y));                 \
    const Complex s{a.x * scale, a.y * scale}, t{b.x * scale, b.y * scale};                \
    const Number inverse = one / (t.x * t.x + t.y * t.y);                                  \
    return Complex{(s.x * t.x + s.y * t.y) * inverse, (s.y * t.x - s.x * t.y) * inverse};  \
  }                                                                                        \
  inline Number cuCabs##f(Complex a) { return std::hypot(a.x, a.y); }                      \
  inline Complex cuCfma##f(Complex a, Complex b, Complex c) {                              \
    return Complex{std::fma(-a.y, b.y, std::fma(a.x, b.x, c.x)),                           \
                   std::fma(a.y, b.x, std::fma(a.x, b.y, c.y))};                           \
  }
CUDA_CPU_COMPLEX(cuFloatComplex, float, f)
CUDA_CPU_COMPLEX(cuDoubleComplex, double, )
#undef CUDA_CPU_COMPLEX

inline cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return {a.x, a.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return {static_cast<float>(a.x), static_cast<float>(a.y)};
}
