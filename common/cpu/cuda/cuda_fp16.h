// SPDX-License-Identifier: MIT
// Stands in for <cuda_fp16.h> on the CPU backend. __half is IEEE half precision: 1 bit of sign, 5
// of exponent, 10 of fraction. Each operation rounds once, as a GPU's does (engine/short_floats.h).
#pragma once

#include <type_traits>

#include "../engine/short_floats.h"
#include "cuda_runtime.h"

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

/// A number of 16 bits. It converts from and to the other types of numbers, as the toolkit's.
class __half {
 public:
  __half() = default;
  __half(const __half_raw& bits) : x_(bits.x) {}
  __half(float value) : x_(cuda_cpu::HalfFormat::round(value)) {}
  __half(double value) : x_(cuda_cpu::HalfFormat::round(value)) {}
  template <class Integer, std::enable_if_t<std::is_integral<Integer>::value, int> = 0>
  __half(Integer value) : x_(cuda_cpu::HalfFormat::round(cuda_cpu::sticky_double_of(value))) {}
  template <class Value, std::enable_if_t<std::is_arithmetic<Value>::value, int> = 0>
  __half& operator=(Value value) {
    return *this = __half(value);
  }

  operator float() const { return cuda_cpu::HalfFormat::value(x_); }
  operator bool() const { return (x_ & 0x7fff) != 0; }
  template <class Integer,
            std::enable_if_t<
                std::is_integral<Integer>::value && !std::is_same<Integer, bool>::value, int> = 0>
  operator Integer() const {
    return cuda_cpu::to_integer<Integer>(cuda_cpu::HalfFormat::value(x_),
                                         cuda_cpu::Rounding::kZero);
  }
  operator __half_raw() const { return {x_}; }

 private:
  std::uint16_t x_;
};

struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  __half2(__half low, __half high) : x(low), y(high) {}
  __half2(const __half2_raw& bits) : x(__half_raw{bits.x}), y(__half_raw{bits.y}) {}
  operator __half2_raw() const {
    return {static_cast<__half_raw>(x).x, static_cast<__half_raw>(y).x};
  }
};

using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

namespace cuda_cpu {
template <>
struct FormatOf<__half> {
  using Format = HalfFormat;
  using Raw = __half_raw;
};
inline unsigned bits_of(__half value) { return static_cast<__half_raw>(value).x; }
}  // namespace cuda_cpu

CUDA_CPU_SHORT_FLOAT(__half)

CUDA_CPU_SHORT_AND_INTEGER(__half, __int2half, __half2int, int)
CUDA_CPU_SHORT_AND_INTEGER(__half, __uint2half, __half2uint, unsigned)
CUDA_CPU_SHORT_AND_INTEGER(__half, __short2half, __half2short, short)
CUDA_CPU_SHORT_AND_INTEGER(__half, __ushort2half, __half2ushort, unsigned short)
CUDA_CPU_SHORT_AND_INTEGER(__half, __ll2half, __half2ll, long long)
CUDA_CPU_SHORT_AND_INTEGER(__half, __ull2half, __half2ull, unsigned long long)

inline __half __float2half(float value) {
  return cuda_cpu::rounded<__half>(value, cuda_cpu::Rounding::kNearest);
}
inline __half __float2half_rn(float value) {
  return cuda_cpu::rounded<__half>(value, cuda_cpu::Rounding::kNearest);
}
inline __half __float2half_rz(float value) {
  return cuda_cpu::rounded<__half>(value, cuda_cpu::Rounding::kZero);
}
inline __half __float2half_rd(float value) {
  return cuda_cpu::rounded<__half>(value, cuda_cpu::Rounding::kDown);
}
inline __half __float2half_ru(float value) {
  return cuda_cpu::rounded<__half>(value, cuda_cpu::Rounding::kUp);
}
inline __half __double2half(double value) { return cuda_cpu::rounded<__half>(value); }
inline float __half2float(__half value) { return value; }
inline signed char __half2char_rz(__half value) { return static_cast<signed char>(value); }
inline unsigned char __half2uchar_rz(__half value) { return static_cast<unsigned char>(value); }
inline __half2 __float2half2_rn(float value) { return {value, value}; }
inline __half2 __floats2half2_rn(float low, float high) { return {low, high}; }
inline __half2 __float22half2_rn(float2 values) { return {values.x, values.y}; }
inline float2 __half22float2(__half2 values) { return {values.x, values.y}; }
inline float __low2float(__half2 values) { return values.x; }
inline float __high2float(__half2 values) { return values.y; }
inline __half __low2half(__half2 values) { return values.x; }
inline __half __high2half(__half2 values) { return values.y; }
inline __half2 __half2half2(__half value) { return {value, value}; }
inline __half2 __halves2half2(__half low, __half high) { return {low, high}; }
inline __half2 make_half2(__half low, __half high) { return {low, high}; }
inline __half2 __low2half2(__half2 values) { return {values.x, values.x}; }
inline __half2 __high2half2(__half2 values) { return {values.y, values.y}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
inline __half2 __lowhigh2highlow(__half2 values) { return {values.y, values.x}; }
inline short __half_as_short(__half value) { return static_cast<short>(cuda_cpu::bits_of(value)); }
inline unsigned short __half_as_ushort(__half value) {
  return static_cast<unsigned short>(cuda_cpu::bits_of(value));
}
inline __half __short_as_half(short bits) {
  return cuda_cpu::with_bits<__half>(static_cast<unsigned short>(bits));
}
inline __half __ushort_as_half(unsigned short bits) { return cuda_cpu::with_bits<__half>(bits); }
