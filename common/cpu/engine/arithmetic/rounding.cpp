// SPDX-License-Identifier: MIT
// The CPU rounds in the direction that it is told. The compiler does not know: so operands are
// read, and the result is written, while the direction holds (volatile).
#include "rounding.h"

#include <cfenv>

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

CUDA_CPU_ROUNDED_FUNCTIONS(now)
