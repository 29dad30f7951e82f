// SPDX-License-Identifier: MIT
// Stands in for <cuda_bf16.h> on the CPU backend. __nv_bfloat16 is bfloat16: the upper 16 bits of a
// float, 8 of exponent, 7 of fraction. Each operation rounds once, as a GPU's does
// (engine/short_floats.h).
#pragma once

#include <type_traits>

#include "../engine/short_floats.h"
#include "cuda_runtime.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};

/// A number of 16 bits. It converts from and to the other types of numbers, as the toolkit's.
class __nv_bfloat16 {
 public:
  __nv_bfloat16() = default;
  __nv_bfloat16(const __nv_bfloat16_raw& bits) : x_(bits.x) {}
  __nv_bfloat16(float value) : x_(cuda_cpu::Bfloat16Format::round(value)) {}
  __nv_bfloat16(double value) : x_(cuda_cpu::Bfloat16Format::round(value)) {}
  template <class Integer, std::enable_if_t<std::is_integral<Integer>::value, int> = 0>
  __nv_bfloat16(Integer value)
      : x_(cuda_cpu::Bfloat16Format::round(cuda_cpu::sticky_double_of(value))) {}
  template <class Value, std::enable_if_t<std::is_arithmetic<Value>::value, int> = 0>
  __nv_bfloat16& operator=(Value value) {
    return *this = __nv_bfloat16(value);
  }

  operator float() const { return cuda_cpu::Bfloat16Format::value(x_); }
  operator bool() const { return (x_ & 0x7fff) != 0; }
  template <class Integer,
            std::enable_if_t<
                std::is_integral<Integer>::value && !std::is_same<Integer, bool>::value, int> = 0>
  operator Integer() const {
    return cuda_cpu::to_integer<Integer>(cuda_cpu::Bfloat16Format::value(x_),
                                         cuda_cpu::Rounding::kZero);
  }
  operator __nv_bfloat16_raw() const { return {x_}; }

 private:
  std::uint16_t x_;
};

struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __nv_bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) : x(low), y(high) {}
  __nv_bfloat162(const __nv_bfloat162_raw& bits)
      : x(__nv_bfloat16_raw{bits.x}), y(__nv_bfloat16_raw{bits.y}) {}
  operator __nv_bfloat162_raw() const {
    return {static_cast<__nv_bfloat16_raw>(x).x, static_cast<__nv_bfloat16_raw>(y).x};
  }
};

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

namespace cuda_cpu {
template <>
struct FormatOf<__nv_bfloat16> {
  using Format = Bfloat16Format;
  using Raw = __nv_bfloat16_raw;
};
inline unsigned bits_of(__nv_bfloat16 value) { return static_cast<__nv_bfloat16_raw>(value).x; }
}  // namespace cuda_cpu

CUDA_CPU_SHORT_FLOAT(__nv_bfloat16)

CUDA_CPU_SHORT_AND_INTEGER(__nv_bfloat16, __int2bfloat16, __bfloat162int, int)
CUDA_CPU_SHORT_AND_INTEGER(__nv_bfloat16, __uint2bfloat16, __bfloat162uint, unsigned)
CUDA_CPU_SHORT_AND_INTEGER(__nv_bfloat16, __short2bfloat16, __bfloat162short, short)
CUDA_CPU_SHORT_AND_INTEGER(__nv_bfloat16, __ushort2bfloat16, __bfloat162ushort, unsigned short)
CUDA_CPU_SHORT_AND_INTEGER(__nv_bfloat16, __ll2bfloat16, __bfloat162ll, long long)
CUDA_CPU_SHORT_AND_INTEGER(__nv_bfloat16, __ull2bfloat16, __bfloat162ull, unsigned long long)

inline __nv_bfloat16 __float2bfloat16(float value) {
  return cuda_cpu::rounded<__nv_bfloat16>(value, cuda_cpu::Rounding::kNearest);
}
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  return cuda_cpu::rounded<__nv_bfloat16>(value, cuda_cpu::Rounding::kNearest);
}
inline __nv_bfloat16 __float2bfloat16_rz(float value) {
  return cuda_cpu::rounded<__nv_bfloat16>(value, cuda_cpu::Rounding::kZero);
}
inline __nv_bfloat16 __float2bfloat16_rd(float value) {
  return cuda_cpu::rounded<__nv_bfloat16>(value, cuda_cpu::Rounding::kDown);
}
inline __nv_bfloat16 __float2bfloat16_ru(float value) {
  return cuda_cpu::rounded<__nv_bfloat16>(value, cuda_cpu::Rounding::kUp);
}
inline __nv_bfloat16 __double2bfloat16(double value) {
  return cuda_cpu::rounded<__nv_bfloat16>(value);
}
inline float __bfloat162float(__nv_bfloat16 value) { return value; }
inline signed char __bfloat162char_rz(__nv_bfloat16 value) {
  return static_cast<signed char>(value);
}
inline unsigned char __bfloat162uchar_rz(__nv_bfloat16 value) {
  return static_cast<unsigned char>(value);
}
inline __nv_bfloat162 __float2bfloat162_rn(float value) { return {value, value}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float low, float high) { return {low, high}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 values) { return {values.x, values.y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 values) { return {values.x, values.y}; }
inline float __low2float(__nv_bfloat162 values) { return values.x; }
inline float __high2float(__nv_bfloat162 values) { return values.y; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 values) { return values.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 values) { return values.y; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 value) { return {value, value}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) {
  return {low, high};
}
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) { return {low, high}; }
inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 values) { return {values.x, values.x}; }
inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 values) { return {values.y, values.y}; }
inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x, b.x}; }
inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.y, b.y}; }
inline __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 values) { return {values.y, values.x}; }
inline short __bfloat16_as_short(__nv_bfloat16 value) {
  return static_cast<short>(cuda_cpu::bits_of(value));
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) {
  return static_cast<unsigned short>(cuda_cpu::bits_of(value));
}
inline __nv_bfloat16 __short_as_bfloat16(short bits) {
  return cuda_cpu::with_bits<__nv_bfloat16>(static_cast<unsigned short>(bits));
}
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return cuda_cpu::with_bits<__nv_bfloat16>(bits);
}
