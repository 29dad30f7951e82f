// SPDX-License-Identifier: MIT
// Floating-point numbers of 16 bits: rounding to them, and what __half and __nv_bfloat16 have in
// common. Everything is computed in double and rounded once, so sums, products, quotients and
// fused multiply-adds are what IEEE 754 asks for, as on a GPU: double has more than twice the
// digits and a far wider range, and where even its sum of a fused multiply-add is not exact, it is
// kept odd (round_to_odd). Functions such as hexp are rounded correctly here; a GPU approximates
// them, and may differ in the last bit.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "../meeting/atomics.h"
#include "../meeting/warp.h"
#include "../state/uninstrumented.h"
#include "device_functions.h"

namespace cuda_cpu {

enum class Rounding { kNearest, kZero, kDown, kUp };

/// The types that a program sees. In a namespace of their own, or the compiler would look among all
/// of cuda_cpu's functions wherever a program calls one of its own with a __half.
namespace short_float_types {

/// A format with one bit of sign, kExponent of exponent and kFraction of fraction (the leading 1 is
/// not stored); subnormals, infinities and NaN as in IEEE 754. X-ray does not see the branches of
/// what is one instruction on a GPU, nor of what they call.
template <int kExponent, int kFraction>
struct ShortFormat {
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr unsigned kSign = 0x8000, kNan = 0x7fff;
  static constexpr unsigned kInfinity = ((1u << kExponent) - 1) << kFraction;

  /// `value`, rounded once. Every NaN becomes kNan, as the hardware's conversions make it.
  CUDA_CPU_UNSEEN static std::uint16_t round(double value, Rounding rounding = Rounding::kNearest) {
    const auto bits = bit_copy<std::uint64_t>(value);
    const unsigned sign = bits >> 63 != 0 ? kSign : 0;
    const int field = static_cast<int>(bits >> 52 & 0x7ff);
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    if (field == 0x7ff) return static_cast<std::uint16_t>(fraction != 0 ? kNan : sign | kInfinity);
    if (field == 0 && fraction == 0) return static_cast<std::uint16_t>(sign);

    // value = significand * 2^(exponent - 52); of it `shift` bits do not fit.
    const std::uint64_t significand = field == 0 ? fraction : fraction | std::uint64_t{1} << 52;
    const int exponent = field == 0 ? -1022 : field - 1023;
    const int biased = exponent + kBias > 1 ? exponent + kBias : 1;  // 1 also for subnormals
    const int shift = biased - kBias - kFraction - (exponent - 52);
    const std::uint64_t kept = shift > 63 ? 0 : significand >> shift;
    const std::uint64_t rest = shift > 63 ? significand : significand - (kept << shift);
    const std::uint64_t half = shift > 63 ? ~std::uint64_t{0} : std::uint64_t{1} << (shift - 1);
    const Rounding away = sign != 0 ? Rounding::kDown : Rounding::kUp;
    const bool up = rounding == Rounding::kNearest
                        ? rest > half || (rest == half && (kept & 1) != 0)
                        : rest != 0 && rounding == away;
    // A carry out of the fraction is the next exponent.
    const std::uint64_t magnitude =
        (static_cast<std::uint64_t>(biased - 1) << kFraction) + kept + up;
    if (magnitude < kInfinity) return static_cast<std::uint16_t>(sign | magnitude);
    const bool to_infinity = rounding == Rounding::kNearest || rounding == away;
    return static_cast<std::uint16_t>(sign | (to_infinity ? kInfinity : kInfinity - 1));
  }

  /// The value of `bits`, exactly.
  CUDA_CPU_UNSEEN static float value(std::uint16_t bits) {
    const int field = (bits & kInfinity) >> kFraction;
    const unsigned fraction = bits & ((1u << kFraction) - 1);
    float magnitude;
    if (field == (1 << kExponent) - 1) {
      magnitude = bit_copy<float>(0x7f800000u | fraction << (23 - kFraction));
    } else if (field == 0) {
      magnitude = ldexpf(static_cast<float>(fraction), 1 - kBias - kFraction);
    } else {
      magnitude = ldexpf(static_cast<float>(fraction | 1u << kFraction), field - kBias - kFraction);
    }
    return (bits & kSign) != 0 ? -magnitude : magnitude;
  }
};

}  // namespace short_float_types
using short_float_types::ShortFormat;
using HalfFormat = ShortFormat<5, 10>;
using Bfloat16Format = ShortFormat<8, 7>;

/// a * b + c. Where a double cannot hold it, the nearest one towards zero or away from it whose
/// last bit is 1: rounded again, to far fewer bits, it gives what the exact value would.
inline double round_to_odd_fma(double a, double b, double c) {
  const double product = a * b;  // exact: the factors have 11 bits at most
  const double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (c - part);
  if (error == 0 || (bit_copy<std::uint64_t>(sum) & 1) != 0) return sum;
  return std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

/// An integer as a double that rounds to few bits as the integer itself does: past 53 bits the last
/// one says whether any beyond it were set.
inline double sticky_double(std::uint64_t magnitude) {
  const std::uint64_t low = magnitude & 0x7ff;
  if (magnitude >> 53 == 0 || low == 0) return static_cast<double>(magnitude);
  return static_cast<double>((magnitude - low) | 0x800);
}
template <class Integer>
double sticky_double_of(Integer value) {
  if (value >= 0) return sticky_double(static_cast<std::uint64_t>(value));
  return -sticky_double(std::uint64_t{0} - static_cast<std::uint64_t>(value));
}

/// To an integer as the hardware converts: the nearest that the type has, 0 for NaN.
template <class Integer>
Integer to_integer(double value, Rounding rounding) {
  if (std::isnan(value)) return 0;
  switch (rounding) {
    case Rounding::kNearest:
      return to_integer<Integer>(std::nearbyint(value));
    case Rounding::kZero:
      return to_integer<Integer>(std::trunc(value));
    case Rounding::kDown:
      return to_integer<Integer>(std::floor(value));
    case Rounding::kUp:
      break;
  }
  return to_integer<Integer>(std::ceil(value));
}

inline float rounded_to_tf32(float value) {
  const auto bits = bit_copy<std::uint32_t>(value);
  if ((bits >> 23 & 0xff) == 0xff) return value;
  return bit_copy<float>((bits + 0x1000) & ~0x1fffu);  // to the nearest, ties away from zero
}

namespace short_float_types {

/// __half and __nv_bfloat16. It converts from and to the other types of numbers, as the toolkit's.
/// R: a struct of the bits.
template <class F, class R>
class ShortFloat {
 public:
  using Format = F;
  using Raw = R;

  ShortFloat() = default;
  ShortFloat(const Raw& bits) : x_(bits.x) {}
  ShortFloat(float value) : x_(Format::round(value)) {}
  ShortFloat(double value) : x_(Format::round(value)) {}
  template <class Integer, std::enable_if_t<std::is_integral<Integer>::value, int> = 0>
  ShortFloat(Integer value) : x_(Format::round(sticky_double_of(value))) {}
  template <class Value, std::enable_if_t<std::is_arithmetic<Value>::value, int> = 0>
  ShortFloat& operator=(Value value) {
    return *this = ShortFloat(value);
  }

  operator float() const { return Format::value(x_); }
  operator bool() const { return (x_ & 0x7fff) != 0; }
  template <class Integer,
            std::enable_if_t<
                std::is_integral<Integer>::value && !std::is_same<Integer, bool>::value, int> = 0>
  operator Integer() const {
    return to_integer<Integer>(Format::value(x_), Rounding::kZero);
  }
  operator Raw() const { return {x_}; }

 private:
  std::uint16_t x_;
};

template <class T, class Raw, class RawPair>
struct alignas(4) ShortPair {
  T x, y;
  ShortPair() = default;
  ShortPair(T low, T high) : x(low), y(high) {}
  ShortPair(const RawPair& bits) : x(Raw{bits.x}), y(Raw{bits.y}) {}
  operator RawPair() const { return {static_cast<Raw>(x).x, static_cast<Raw>(y).x}; }
};

}  // namespace short_float_types
using short_float_types::ShortFloat;
using short_float_types::ShortPair;

template <class T>
unsigned bits_of(T value) {
  return static_cast<typename T::Raw>(value).x;
}
template <class T>
T with_bits(unsigned bits) {
  return typename T::Raw{static_cast<unsigned short>(bits)};
}
template <class T>
T rounded(double value, Rounding rounding = Rounding::kNearest) {
  return with_bits<T>(T::Format::round(value, rounding));
}
template <class T>
T nan_of() {
  return with_bits<T>(T::Format::kNan);
}

}  // namespace cuda_cpu

// Functions that CUDA overloads for both types: T, and a pair T##2 of them. What a comparison of
// pairs gives is 1 or 0 for each half; names with b ask whether both hold, names with u hold for
// NaN as well.
#define CUDA_CPU_SHORT_BINARY(T, name, expression)                                 \
  inline T name(T a, T b) {                                                        \
    const double x = static_cast<float>(a), y = static_cast<float>(b);             \
    return cuda_cpu::rounded<T>(expression);                                       \
  }                                                                                \
  inline T name##_rn(T a, T b) { return name(a, b); }                              \
  inline T name##_sat(T a, T b) { return cuda_cpu::saturated(name(a, b)); }        \
  inline T##2 name##2(T##2 a, T##2 b) { return {name(a.x, b.x), name(a.y, b.y)}; } \
  inline T##2 name##2_rn(T##2 a, T##2 b) { return name##2(a, b); }                 \
  inline T##2 name##2_sat(T##2 a, T##2 b) { return {name##_sat(a.x, b.x), name##_sat(a.y, b.y)}; }

#define CUDA_CPU_SHORT_COMPARISON(T, name, expression)                \
  inline bool __h##name(T a, T b) {                                   \
    const float x = static_cast<float>(a), y = static_cast<float>(b); \
    return !std::isunordered(x, y) && (expression);                   \
  }                                                                   \
  inline bool __h##name##u(T a, T b) {                                \
    const float x = static_cast<float>(a), y = static_cast<float>(b); \
    return std::isunordered(x, y) || (expression);                    \
  }                                                                   \
  CUDA_CPU_SHORT_COMPARISON_OF_PAIRS(T, name)                         \
  CUDA_CPU_SHORT_COMPARISON_OF_PAIRS(T, name##u)

#define CUDA_CPU_SHORT_COMPARISON_OF_PAIRS(T, name)                                                \
  inline T##2 __h##name##2(T##2 a, T##2 b) {                                                       \
    return {T(__h##name(a.x, b.x) ? 1.0f : 0.0f), T(__h##name(a.y, b.y) ? 1.0f : 0.0f)};           \
  }                                                                                                \
  inline bool __hb##name##2(T##2 a, T##2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
  inline unsigned __h##name##2_mask(T##2 a, T##2 b) {                                              \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);        \
  }

#define CUDA_CPU_SHORT_EXTREME(T, name, wins)                                      \
  inline T name(T a, T b) {                                                        \
    const float x = static_cast<float>(a), y = static_cast<float>(b);              \
    if (std::isnan(x)) return std::isnan(y) ? cuda_cpu::nan_of<T>() : b;           \
    if (std::isnan(y)) return a;                                                   \
    return (wins) ? a : b;                                                         \
  }                                                                                \
  inline T name##_nan(T a, T b) {                                                  \
    return __hisnan(a) || __hisnan(b) ? cuda_cpu::nan_of<T>() : name(a, b);        \
  }                                                                                \
  inline T##2 name##2(T##2 a, T##2 b) { return {name(a.x, b.x), name(a.y, b.y)}; } \
  inline T##2 name##2_nan(T##2 a, T##2 b) { return {name##_nan(a.x, b.x), name##_nan(a.y, b.y)}; }

#define CUDA_CPU_SHORT_FUNCTION(T, name, expression) \
  inline T h##name(T a) {                            \
    const double x = static_cast<float>(a);          \
    return cuda_cpu::rounded<T>(expression);         \
  }                                                  \
  inline T##2 h2##name(T##2 a) { return {h##name(a.x), h##name(a.y)}; }

#define CUDA_CPU_SHORT_OPERATOR(T, sign, name, name_of_pairs)               \
  inline T operator sign(T a, T b) { return name(a, b); }                   \
  inline T& operator sign##=(T& a, T b) { return a = name(a, b); }          \
  inline T##2 operator sign(T##2 a, T##2 b) { return name_of_pairs(a, b); } \
  inline T##2 & operator sign##=(T##2 & a, T##2 b) { return a = name_of_pairs(a, b); }

#define CUDA_CPU_SHORT_RELATION(T, sign, name)                    \
  inline bool operator sign(T a, T b) { return __h##name(a, b); } \
  inline bool operator sign(T##2 a, T##2 b) { return __hb##name##2(a, b); }

#define CUDA_CPU_SHORT_FLOAT(T)                                                                 \
  inline bool __hisnan(T a) { return std::isnan(static_cast<float>(a)); }                       \
  inline int __hisinf(T a) {                                                                    \
    const float x = static_cast<float>(a);                                                      \
    return std::isinf(x) ? (x > 0 ? 1 : -1) : 0;                                                \
  }                                                                                             \
  inline T##2 __hisnan2(T##2 a) {                                                               \
    return {T(__hisnan(a.x) ? 1.0f : 0.0f), T(__hisnan(a.y) ? 1.0f : 0.0f)};                    \
  }                                                                                             \
  namespace cuda_cpu {                                                                          \
  inline T saturated(T a) {                                                                     \
    const float x = static_cast<float>(a);                                                      \
    return x > 1 ? T(1.0f) : x > 0 ? a : T(0.0f);                                               \
  }                                                                                             \
  inline T not_negative(T a) { return __hisnan(a) || static_cast<float>(a) > 0 ? a : T(0.0f); } \
  }                                                                                             \
  inline T __hneg(T a) { return cuda_cpu::with_bits<T>(cuda_cpu::bits_of(a) ^ 0x8000u); }       \
  inline T __habs(T a) { return cuda_cpu::with_bits<T>(cuda_cpu::bits_of(a) & 0x7fffu); }       \
  inline T##2 __hneg2(T##2 a) { return {__hneg(a.x), __hneg(a.y)}; }                            \
  inline T##2 __habs2(T##2 a) { return {__habs(a.x), __habs(a.y)}; }                            \
  CUDA_CPU_SHORT_BINARY(T, __hadd, x + y)                                                       \
  CUDA_CPU_SHORT_BINARY(T, __hsub, x - y)                                                       \
  CUDA_CPU_SHORT_BINARY(T, __hmul, x* y)                                                        \
  inline T __hdiv(T a, T b) {                                                                   \
    return cuda_cpu::rounded<T>(static_cast<double>(static_cast<float>(a)) /                    \
                                static_cast<float>(b));                                         \
  }                                                                                             \
  inline T##2 __h2div(T##2 a, T##2 b) { return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }          \
  inline T __hfma(T a, T b, T c) {                                                              \
    return cuda_cpu::rounded<T>(cuda_cpu::round_to_odd_fma(                                     \
        static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));                  \
  }                                                                                             \
  inline T __hfma_sat(T a, T b, T c) { return cuda_cpu::saturated(__hfma(a, b, c)); }           \
  inline T __hfma_relu(T a, T b, T c) { return cuda_cpu::not_negative(__hfma(a, b, c)); }       \
  inline T##2 __hfma2(T##2 a, T##2 b, T##2 c) {                                                 \
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                      \
  }                                                                                             \
  inline T##2 __hfma2_sat(T##2 a, T##2 b, T##2 c) {                                             \
    return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};                              \
  }                                                                                             \
  inline T##2 __hfma2_relu(T##2 a, T##2 b, T##2 c) {                                            \
    return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};                            \
  }                                                                                             \
  CUDA_CPU_SHORT_COMPARISON(T, eq, x == y)                                                      \
  CUDA_CPU_SHORT_COMPARISON(T, ne, x != y)                                                      \
  CUDA_CPU_SHORT_COMPARISON(T, lt, x < y)                                                       \
  CUDA_CPU_SHORT_COMPARISON(T, le, x <= y)                                                      \
  CUDA_CPU_SHORT_COMPARISON(T, gt, x > y)                                                       \
  CUDA_CPU_SHORT_COMPARISON(T, ge, x >= y)                                                      \
  CUDA_CPU_SHORT_EXTREME(T, __hmax, x > y || (x == y && !std::signbit(x)))                      \
  CUDA_CPU_SHORT_EXTREME(T, __hmin, x < y || (x == y && std::signbit(x)))                       \
  CUDA_CPU_SHORT_FUNCTION(T, sqrt, std::sqrt(x))                                                \
  CUDA_CPU_SHORT_FUNCTION(T, rsqrt, 1 / std::sqrt(x))                                           \
  CUDA_CPU_SHORT_FUNCTION(T, rcp, 1 / x)                                                        \
  CUDA_CPU_SHORT_FUNCTION(T, exp, std::exp(x))                                                  \
  CUDA_CPU_SHORT_FUNCTION(T, exp2, std::exp2(x))                                                \
  CUDA_CPU_SHORT_FUNCTION(T, exp10, std::pow(10.0, x))                                          \
  CUDA_CPU_SHORT_FUNCTION(T, log, std::log(x))                                                  \
  CUDA_CPU_SHORT_FUNCTION(T, log2, std::log2(x))                                                \
  CUDA_CPU_SHORT_FUNCTION(T, log10, std::log10(x))                                              \
  CUDA_CPU_SHORT_FUNCTION(T, sin, std::sin(x))                                                  \
  CUDA_CPU_SHORT_FUNCTION(T, cos, std::cos(x))                                                  \
  CUDA_CPU_SHORT_FUNCTION(T, tanh, std::tanh(x))                                                \
  CUDA_CPU_SHORT_FUNCTION(T, tanh_approx, std::tanh(x))                                         \
  CUDA_CPU_SHORT_FUNCTION(T, floor, std::floor(x))                                              \
  CUDA_CPU_SHORT_FUNCTION(T, ceil, std::ceil(x))                                                \
  CUDA_CPU_SHORT_FUNCTION(T, trunc, std::trunc(x))                                              \
  CUDA_CPU_SHORT_FUNCTION(T, rint, std::nearbyint(x))                                           \
  CUDA_CPU_SHORT_OPERATOR(T, +, __hadd, __hadd2)                                                \
  CUDA_CPU_SHORT_OPERATOR(T, -, __hsub, __hsub2)                                                \
  CUDA_CPU_SHORT_OPERATOR(T, *, __hmul, __hmul2)                                                \
  CUDA_CPU_SHORT_OPERATOR(T, /, __hdiv, __h2div)                                                \
  inline T operator+(T a) { return a; }                                                         \
  inline T operator-(T a) { return __hneg(a); }                                                 \
  inline T##2 operator+(T##2 a) { return a; }                                                   \
  inline T##2 operator-(T##2 a) { return __hneg2(a); }                                          \
  inline T& operator++(T& a) { return a = a + T(1.0f); }                                        \
  inline T& operator--(T& a) { return a = a - T(1.0f); }                                        \
  CUDA_CPU_SHORT_RELATION(T, ==, eq)                                                            \
  CUDA_CPU_SHORT_RELATION(T, <, lt)                                                             \
  CUDA_CPU_SHORT_RELATION(T, <=, le)                                                            \
  CUDA_CPU_SHORT_RELATION(T, >, gt)                                                             \
  CUDA_CPU_SHORT_RELATION(T, >=, ge)                                                            \
  CUDA_CPU_SHORT_RELATION(T, !=, neu)                                                           \
  CUDA_CPU_SHUFFLES(T)                                                                          \
  CUDA_CPU_SHUFFLES(T##2)                                                                       \
  inline T __ldg(const T* from) { return *from; }                                               \
  inline T##2 __ldg(const T##2 * from) { return *from; }                                        \
  CUDA_CPU_ATOMIC_UPDATE(atomicAdd, T, __hadd(old, value))                                      \
  CUDA_CPU_ATOMIC_UPDATE(atomicAdd, T##2, __hadd2(old, value))

// Conversions of an integer type: __half2int_rn and its like, __int2half_rn and its like.
#define CUDA_CPU_SHORT_AND_INTEGER(T, to_short, to_integer_name, Integer)                  \
  CUDA_CPU_SHORT_AND_INTEGER_BY(T, to_short##_rn, to_integer_name##_rn, Integer, kNearest) \
  CUDA_CPU_SHORT_AND_INTEGER_BY(T, to_short##_rz, to_integer_name##_rz, Integer, kZero)    \
  CUDA_CPU_SHORT_AND_INTEGER_BY(T, to_short##_rd, to_integer_name##_rd, Integer, kDown)    \
  CUDA_CPU_SHORT_AND_INTEGER_BY(T, to_short##_ru, to_integer_name##_ru, Integer, kUp)
#define CUDA_CPU_SHORT_AND_INTEGER_BY(T, to_short, to_integer_name, Integer, direction)            \
  inline Integer to_integer_name(T a) {                                                            \
    return cuda_cpu::to_integer<Integer>(static_cast<float>(a), cuda_cpu::Rounding::direction);    \
  }                                                                                                \
  inline T to_short(Integer value) {                                                               \
    return cuda_cpu::rounded<T>(cuda_cpu::sticky_double_of(value), cuda_cpu::Rounding::direction); \
  }

// What one type and its pair T##2 have of their own, by the name that it has in functions.
#define CUDA_CPU_SHORT_NAMES(T, name)                                                             \
  CUDA_CPU_SHORT_AND_INTEGER(T, __int2##name, __##name##2int, int)                                \
  CUDA_CPU_SHORT_AND_INTEGER(T, __uint2##name, __##name##2uint, unsigned)                         \
  CUDA_CPU_SHORT_AND_INTEGER(T, __short2##name, __##name##2short, short)                          \
  CUDA_CPU_SHORT_AND_INTEGER(T, __ushort2##name, __##name##2ushort, unsigned short)               \
  CUDA_CPU_SHORT_AND_INTEGER(T, __ll2##name, __##name##2ll, long long)                            \
  CUDA_CPU_SHORT_AND_INTEGER(T, __ull2##name, __##name##2ull, unsigned long long)                 \
  CUDA_CPU_SHORT_OF_FLOAT(T, __float2##name, kNearest)                                            \
  CUDA_CPU_SHORT_OF_FLOAT(T, __float2##name##_rn, kNearest)                                       \
  CUDA_CPU_SHORT_OF_FLOAT(T, __float2##name##_rz, kZero)                                          \
  CUDA_CPU_SHORT_OF_FLOAT(T, __float2##name##_rd, kDown)                                          \
  CUDA_CPU_SHORT_OF_FLOAT(T, __float2##name##_ru, kUp)                                            \
  inline T __double2##name(double value) { return cuda_cpu::rounded<T>(value); }                  \
  inline float __##name##2float(T value) { return value; }                                        \
  inline signed char __##name##2char_rz(T value) { return static_cast<signed char>(value); }      \
  inline unsigned char __##name##2uchar_rz(T value) { return static_cast<unsigned char>(value); } \
  inline T##2 __float2##name##2_rn(float value) { return {value, value}; }                        \
  inline T##2 __floats2##name##2_rn(float low, float high) { return {low, high}; }                \
  inline T##2 __float22##name##2_rn(float2 values) { return {values.x, values.y}; }               \
  inline float2 __##name##22float2(T##2 values) { return {values.x, values.y}; }                  \
  inline float __low2float(T##2 values) { return values.x; }                                      \
  inline float __high2float(T##2 values) { return values.y; }                                     \
  inline T __low2##name(T##2 values) { return values.x; }                                         \
  inline T __high2##name(T##2 values) { return values.y; }                                        \
  inline T##2 __##name##2##name##2(T value) { return {value, value}; }                            \
  inline T##2 __halves2##name##2(T low, T high) { return {low, high}; }                           \
  inline T##2 make_##name##2(T low, T high) { return {low, high}; }                               \
  inline T##2 __low2##name##2(T##2 values) { return {values.x, values.x}; }                       \
  inline T##2 __high2##name##2(T##2 values) { return {values.y, values.y}; }                      \
  inline T##2 __lows2##name##2(T##2 a, T##2 b) { return {a.x, b.x}; }                             \
  inline T##2 __highs2##name##2(T##2 a, T##2 b) { return {a.y, b.y}; }                            \
  inline T##2 __lowhigh2highlow(T##2 values) { return {values.y, values.x}; }                     \
  inline short __##name##_as_short(T value) {                                                     \
    return static_cast<short>(cuda_cpu::bits_of(value));                                          \
  }                                                                                               \
  inline unsigned short __##name##_as_ushort(T value) {                                           \
    return static_cast<unsigned short>(cuda_cpu::bits_of(value));                                 \
  }                                                                                               \
  inline T __short_as_##name(short bits) {                                                        \
    return cuda_cpu::with_bits<T>(static_cast<unsigned short>(bits));                             \
  }                                                                                               \
  inline T __ushort_as_##name(unsigned short bits) { return cuda_cpu::with_bits<T>(bits); }

#define CUDA_CPU_SHORT_OF_FLOAT(T, name, direction) \
  inline T name(float value) { return cuda_cpu::rounded<T>(value, cuda_cpu::Rounding::direction); }
