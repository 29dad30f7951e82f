// SPDX-License-Identifier: MIT
// The CPU rounds in the direction that it is told. The compiler does not know: so operands are
// read, and the result is written, while the direction holds (volatile).
#include "rounding.h"

#include <cfenv>
#include <cmath>

namespace {

template <class T>
T now(const T& x) {
  return *const_cast<const volatile T*>(&x);
}

class Rounding {
 public:
  explicit Rounding(int direction) : before_(std::fegetround()) { std::fesetround(direction); }
  ~Rounding() { std::fesetround(before_); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  int before_;
};

}  // namespace

#define CUDA_CPU_ROUNDED_BY(type, name, direction, parameters, expression) \
  type name parameters {                                                   \
    const Rounding here(direction);                                        \
    const volatile type result = expression;                               \
    return result;                                                         \
  }
#define CUDA_CPU_ROUNDED(type, name, parameters, expression)                  \
  CUDA_CPU_ROUNDED_BY(type, name##_rz, FE_TOWARDZERO, parameters, expression) \
  CUDA_CPU_ROUNDED_BY(type, name##_ru, FE_UPWARD, parameters, expression)     \
  CUDA_CPU_ROUNDED_BY(type, name##_rd, FE_DOWNWARD, parameters, expression)

CUDA_CPU_ROUNDED(float, __fadd, (float x, float y), now(x) + now(y))
CUDA_CPU_ROUNDED(float, __fsub, (float x, float y), now(x) - now(y))
CUDA_CPU_ROUNDED(float, __fmul, (float x, float y), now(x) * now(y))
CUDA_CPU_ROUNDED(float, __fdiv, (float x, float y), now(x) / now(y))
CUDA_CPU_ROUNDED(float, __fmaf, (float x, float y, float z), std::fma(now(x), now(y), now(z)))
CUDA_CPU_ROUNDED(float, __frcp, (float x), 1.0F / now(x))
CUDA_CPU_ROUNDED(float, __fsqrt, (float x), std::sqrt(now(x)))
CUDA_CPU_ROUNDED(double, __dadd, (double x, double y), now(x) + now(y))
CUDA_CPU_ROUNDED(double, __dsub, (double x, double y), now(x) - now(y))
CUDA_CPU_ROUNDED(double, __dmul, (double x, double y), now(x) * now(y))
CUDA_CPU_ROUNDED(double, __ddiv, (double x, double y), now(x) / now(y))
CUDA_CPU_ROUNDED(double, __fma, (double x, double y, double z), std::fma(now(x), now(y), now(z)))
CUDA_CPU_ROUNDED(double, __drcp, (double x), 1.0 / now(x))
CUDA_CPU_ROUNDED(double, __dsqrt, (double x), std::sqrt(now(x)))
CUDA_CPU_ROUNDED(float, __double2float, (double x), static_cast<float>(now(x)))
CUDA_CPU_ROUNDED(float, __int2float, (int x), static_cast<float>(now(x)))
CUDA_CPU_ROUNDED(float, __uint2float, (unsigned x), static_cast<float>(now(x)))
CUDA_CPU_ROUNDED(float, __ll2float, (long long x), static_cast<float>(now(x)))
CUDA_CPU_ROUNDED(float, __ull2float, (unsigned long long x), static_cast<float>(now(x)))
CUDA_CPU_ROUNDED(double, __ll2double, (long long x), static_cast<double>(now(x)))
CUDA_CPU_ROUNDED(double, __ull2double, (unsigned long long x), static_cast<double>(now(x)))
