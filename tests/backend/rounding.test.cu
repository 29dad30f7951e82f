// SPDX-License-Identifier: MIT
// Intrinsics that round in a direction. What is expected was worked out by hand; the numbers are
// written as powers of two where that shows it.
#include <cuda_runtime.h>

#include <cfenv>
#include <cfloat>
#include <cmath>

#include "../catch.hpp"

namespace {

constexpr float kUlp = 0x1p-23f;   // from 1 to the next float
constexpr double kDUlp = 0x1p-52;  // and to the next double

/// The same call of a function that rounds to zero, up and down, and what they give.
#define CHECK_ROUNDED(name, arguments, to_zero, up, down) \
  CHECK(name##_rz arguments == (to_zero));                \
  CHECK(name##_ru arguments == (up));                     \
  CHECK(name##_rd arguments == (down))

__global__ void add_each_way(const float* x, const float* y, float* sums) {
  sums[0] = __fadd_rn(*x, *y);
  sums[1] = __fadd_rz(*x, *y);
  sums[2] = __fadd_ru(*x, *y);
  sums[3] = __fadd_rd(*x, *y);
}

}  // namespace

// FEATURE: numbers: operations that say how they round
TEST_CASE("float arithmetic rounds in the direction of its name") {
  const float above = 1 + kUlp;
  CHECK_ROUNDED(__fadd, (1.0f, 0x1p-30f), 1.0f, above, 1.0f);
  CHECK_ROUNDED(__fadd, (-1.0f, -0x1p-30f), -1.0f, -1.0f, -above);
  CHECK_ROUNDED(__fsub, (1.0f, 0x1p-30f), 1 - kUlp / 2, 1.0f, 1 - kUlp / 2);
  // (1 + u)(1 + u) = 1 + 2u + uu
  CHECK_ROUNDED(__fmul, (above, above), 1 + 2 * kUlp, 1 + 3 * kUlp, 1 + 2 * kUlp);
  CHECK_ROUNDED(__fmul, (-above, above), -1 - 2 * kUlp, -1 - 2 * kUlp, -1 - 3 * kUlp);
  // ... - 1 = 2u (1 + u / 2), whose next float is 2u (1 + u)
  CHECK_ROUNDED(__fmaf, (above, above, -1.0f), 2 * kUlp, 2 * kUlp * above, 2 * kUlp);
  const float third = __int_as_float(0x3eaaaaaa), more = __int_as_float(0x3eaaaaab);
  CHECK_ROUNDED(__fdiv, (1.0f, 3.0f), third, more, third);
  CHECK_ROUNDED(__frcp, (3.0f), third, more, third);
  CHECK_ROUNDED(__frcp, (-3.0f), -third, -third, -more);
  const float root = __int_as_float(0x3fb504f3), higher = __int_as_float(0x3fb504f4);
  CHECK_ROUNDED(__fsqrt, (2.0f), root, higher, root);
  CHECK_ROUNDED(__fsqrt, (9.0f), 3.0f, 3.0f, 3.0f);
}

TEST_CASE("at the ends of the range, too") {
  CHECK_ROUNDED(__fadd, (FLT_MAX, FLT_MAX), FLT_MAX, HUGE_VALF, FLT_MAX);
  CHECK_ROUNDED(__fmul, (-FLT_MAX, 2.0f), -FLT_MAX, -FLT_MAX, -HUGE_VALF);
  CHECK_ROUNDED(__fmul, (FLT_TRUE_MIN, 0.5f), 0.0f, FLT_TRUE_MIN, 0.0f);
  CHECK_ROUNDED(__dmul, (DBL_TRUE_MIN, -0.5), 0.0, 0.0, -DBL_TRUE_MIN);
  CHECK(std::signbit(__fadd_rd(1.0f, -1.0f)));  // an exact zero is -0 only when rounding down
  CHECK_FALSE(std::signbit(__fadd_ru(1.0f, -1.0f)));
  CHECK(std::isnan(__fsqrt_ru(-1.0f)));
}

TEST_CASE("double arithmetic rounds in the direction of its name") {
  const double above = 1 + kDUlp;
  CHECK_ROUNDED(__dadd, (1.0, 0x1p-60), 1.0, above, 1.0);
  CHECK_ROUNDED(__dsub, (-1.0, 0x1p-60), -1.0, -1.0, -above);
  CHECK_ROUNDED(__dmul, (above, above), 1 + 2 * kDUlp, 1 + 3 * kDUlp, 1 + 2 * kDUlp);
  CHECK_ROUNDED(__fma, (above, above, -1.0), 2 * kDUlp, 2 * kDUlp * above, 2 * kDUlp);
  const double third = __longlong_as_double(0x3fd5555555555555);
  const double more = __longlong_as_double(0x3fd5555555555556);
  CHECK_ROUNDED(__ddiv, (1.0, 3.0), third, more, third);
  CHECK_ROUNDED(__drcp, (3.0), third, more, third);
  const double root = __longlong_as_double(0x3ff6a09e667f3bcc);
  const double higher = __longlong_as_double(0x3ff6a09e667f3bcd);
  CHECK_ROUNDED(__dsqrt, (2.0), root, higher, root);
}

TEST_CASE("conversions round in the direction of their name") {
  CHECK_ROUNDED(__int2float, (16777217), 16777216.0f, 16777218.0f, 16777216.0f);
  CHECK_ROUNDED(__int2float, (-16777217), -16777216.0f, -16777216.0f, -16777218.0f);
  CHECK_ROUNDED(__uint2float, (0xffffffffu), 4294967040.0f, 4294967296.0f, 4294967040.0f);
  CHECK_ROUNDED(__ll2float, (-1 - (1LL << 40)), -0x1p40f, -0x1p40f, -0x1p40f * (1 + kUlp));
  CHECK_ROUNDED(__ull2float, (~0ULL), 0x1.fffffep63f, 0x1p64f, 0x1.fffffep63f);
  CHECK_ROUNDED(__ll2double, ((1LL << 53) + 1), 0x1p53, 0x1p53 + 2, 0x1p53);
  CHECK_ROUNDED(__ull2double, (~0ULL), 0x1.fffffffffffffp63, 0x1p64, 0x1.fffffffffffffp63);
  const float tenth = __int_as_float(0x3dcccccc), more = __int_as_float(0x3dcccccd);
  CHECK_ROUNDED(__double2float, (0.1), tenth, more, tenth);
}

TEST_CASE("what follows in a kernel rounds to the nearest again") {
  float* x = nullptr;
  REQUIRE(cudaMallocHost(&x, 6 * sizeof(float)) == cudaSuccess);
  x[0] = 1;
  x[1] = 0x1.8p-24f;
  add_each_way<<<1, 1>>>(x, x + 1, x + 2);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(x[2] == 1 + kUlp);
  CHECK(x[3] == 1);
  CHECK(x[4] == 1 + kUlp);
  CHECK(x[5] == 1);
  CHECK(std::fegetround() == FE_TONEAREST);
  CHECK(cudaFreeHost(x) == cudaSuccess);
}
