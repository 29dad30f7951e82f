// SPDX-License-Identifier: MIT
#include "products.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "../../engine/arithmetic/short_floats.h"

namespace cuda_cpu {
namespace {

// Exponents of what has none. The sum of any of these with another exponent is told from one that
// is a number's, also that of 0 times infinity.
constexpr float kZero = -20000.0f, kNotFinite = 50000.0f;
constexpr float kSomeZero = -5000.0f;

/// `least`: the smallest exponent of the format, which its subnormal numbers have.
float exponent_of(float value, int least) {
  const auto field = static_cast<int>(bit_copy<std::uint32_t>(value) >> 23 & 255);
  if (value == 0.0f) return kZero;
  if (field == 255) return kNotFinite;
  return static_cast<float>(std::max(field - 127, least));
}

float value_of(TensorFormat format, std::uint32_t bits) {
  switch (format) {
    case TensorFormat::kBfloat16:
      return bit_copy<float>(bits << 16);
    case TensorFormat::kTf32:  // it ignores the 13 lowest bits
      return bit_copy<float>(bits & ~0x1fffu);
    case TensorFormat::kHalf:
      return HalfFormat::value(static_cast<std::uint16_t>(bits));
    case TensorFormat::kE4m3InHalves:
    case TensorFormat::kE4m3: {  // no infinity, and one NaN
      const int exponent = static_cast<int>(bits >> 3 & 15), fraction = bits & 7;
      if ((bits & 0x7f) == 0x7f) return std::numeric_limits<float>::quiet_NaN();
      return ((bits & 0x80) != 0 ? -1.0f : 1.0f) *
             std::ldexp(static_cast<float>(exponent == 0 ? fraction : fraction | 8),
                        std::max(exponent, 1) - 10);
    }
  }
  return 0.0f;
}

float rounded_towards_zero(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::abs(value) >= std::ldexp(1.0, 128)) return nearest;
  return std::abs(static_cast<double>(nearest)) > std::abs(value) ? std::nextafter(nearest, 0.0f)
                                                                  : nearest;
}

/// One element, whatever the exponents. `stride`: between the elements of a column of b.
float sum_of(float c, const float* a, const float* a_exponents, const float* b,
             const float* b_exponents, unsigned stride, unsigned k,
             const TensorRounding& rounding) {
  float largest = exponent_of(c, -126);
  double plain = static_cast<double>(c);
  for (unsigned l = 0; l < k; ++l) {
    plain += static_cast<double>(a[l]) * static_cast<double>(b[l * stride]);
    largest = std::max(largest, a_exponents[l] + b_exponents[l * stride]);
  }
  if (std::isnan(plain)) return bit_copy<float>(0x7fffffffu);
  if (std::isinf(plain)) return static_cast<float>(plain);
  if (largest < kSomeZero) return 0.0f;
  const int exponent =
      std::max(static_cast<int>(largest), rounding.least_exponent) - rounding.fraction_bits;
  const auto aligned = [&](double x) {
    return static_cast<std::int64_t>(std::ldexp(x, -exponent));  // cuts off
  };
  std::int64_t sum = aligned(static_cast<double>(c));
  for (unsigned l = 0; l < k; ++l) {
    sum += aligned(static_cast<double>(a[l]) * static_cast<double>(b[l * stride]));
  }
  const float rounded = rounded_towards_zero(std::ldexp(static_cast<double>(sum), exponent));
  return bit_copy<float>(bit_copy<std::uint32_t>(rounded) &
                         ~((1u << (23 - rounding.kept_bits)) - 1));
}

// ---- four elements of a row at once
// ----------------------------------------------------------------

using Floats = float __attribute__((vector_size(16)));
using Integers = std::int32_t __attribute__((vector_size(16)));

// Between these exponents no product and no scaled product leaves the range of float, but for those
// that are too small to count.
constexpr float kLeastFast = -60.0f, kMostFast = 100.0f;

Floats load(const float* from) {
  Floats x;
  std::memcpy(&x, from, sizeof(x));
  return x;
}

Floats larger(Floats a, Floats b) { return a > b ? a : b; }

Floats exponents_of(Floats c) {
  const Floats exponents =
      __builtin_convertvector((bit_copy<Integers>(c) >> 23 & 255) - 127, Floats);
  // Subnormal numbers are so small that only a sum of all small ones needs their exponent.
  return exponents > 127.0f ? Floats{} + kNotFinite : c == 0.0f ? Floats{} + kZero : exponents;
}

/// Returns false, and does nothing, unless all exponents allow it.
bool add_to_four(float* d, const float* a, const float* a_exponents, const float* b,
                 const float* b_exponents, unsigned stride, unsigned k,
                 const TensorRounding& rounding) {
  const Floats c = load(d);
  Floats largest = exponents_of(c);
  for (unsigned l = 0; l < k; ++l) {
    largest = larger(largest, a_exponents[l] + load(b_exponents + l * stride));
  }
  largest = largest < kSomeZero ? Floats{} : largest;  // all addends are 0
  for (int i = 0; i < 4; ++i) {
    if (!(largest[i] >= kLeastFast && largest[i] <= kMostFast)) return false;
  }
  // 2^(fraction_bits - largest) and its reciprocal.
  const Integers up = 127 + rounding.fraction_bits - __builtin_convertvector(largest, Integers);
  const auto scale = bit_copy<Floats>(up << 23);
  // An addend has 27 bits, so 32 hold the sum of 16 of them; and those of 8 for certain.
  Integers sum = __builtin_convertvector(c * scale, Integers), other{};
  for (unsigned l = 0; l < k; l += 2) {
    sum += __builtin_convertvector(a[l] * load(b + l * stride) * scale, Integers);
    other += __builtin_convertvector(a[l + 1] * load(b + (l + 1) * stride) * scale, Integers);
  }
  for (int i = 0; i < 4; ++i) {
    // Exact, then without the bits for which there is no room.
    const double exact = static_cast<double>(std::int64_t{sum[i]} + other[i]);
    const auto cut = bit_copy<double>(bit_copy<std::uint64_t>(exact) &
                                      ~((std::uint64_t{1} << (52 - rounding.kept_bits)) - 1));
    d[i] = static_cast<float>(cut) * bit_copy<float>(static_cast<std::uint32_t>(254 - up[i]) << 23);
  }
  return true;
}

}  // namespace

void Factors::put_any(unsigned at, TensorFormat format, std::uint32_t bits) const {
  values[at] = value_of(format, bits);
  const int least = format == TensorFormat::kHalf ? -14 : format == TensorFormat::kE4m3 ? -6 : -126;
  exponents[at] = exponent_of(values[at], least);
}

void add_products(float* d, const Factors& a, const Factors& b, unsigned m, unsigned n, unsigned k,
                  const TensorRounding& rounding) {
  for (unsigned i = 0; i < m; ++i) {
    const float* const row = a.values + i * k;
    const float* const row_exponents = a.exponents + i * k;
    for (unsigned j = 0; j < n; j += 4) {
      float* const four = d + i * n + j;
      if (add_to_four(four, row, row_exponents, b.values + j, b.exponents + j, n, k, rounding))
        continue;
      for (unsigned one = 0; one < 4; ++one) {
        four[one] = sum_of(four[one], row, row_exponents, b.values + j + one, b.exponents + j + one,
                           n, k, rounding);
      }
    }
  }
}

}  // namespace cuda_cpu
