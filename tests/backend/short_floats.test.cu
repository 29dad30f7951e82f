// SPDX-License-Identifier: MIT
// __half and __nv_bfloat16 in kernels, and in pairs, on the CPU backend.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <limits>
#include <vector>

#include "../../common/common.cuh"
#include "../awkward.h"
#include "../catch.hpp"
#include "short_float_samples.cuh"
#include "stored_samples.h"

namespace {

__global__ void sum_of_warp(const __half* x, __half* sum, __half2* pairs) {
  __half value = x[threadIdx.x];
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_down_sync(0xffffffffu, value, distance);
  if (threadIdx.x == 0) *sum = value;
  const __half2 pair = __halves2half2(x[threadIdx.x], __hneg(x[threadIdx.x]));
  pairs[threadIdx.x] = __shfl_xor_sync(0xffffffffu, pair, 1);
}

__global__ void add_all(const __nv_bfloat16* x, __nv_bfloat16* sum) {
  atomicAdd(sum, x[threadIdx.x]);
}

__global__ void add_pairs(__half2* sum) { atomicAdd(sum, __floats2half2_rn(1, 2)); }

/// Those that an H200 was not asked for follow from those that it was.
template <class T>
void check_other_comparisons() {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float a : {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, infinity, -infinity, std::nanf("")}) {
    for (const float b : {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, infinity, -infinity, std::nanf("")}) {
      const T x(a), y(b);
      const bool unordered = __hisnan(x) || __hisnan(y);
      CAPTURE(a, b);
      CHECK(__hgt(x, y) == __hlt(y, x));
      CHECK(__hge(x, y) == __hle(y, x));
      CHECK(__hgtu(x, y) == (unordered || __hlt(y, x)));
      CHECK(__hgeu(x, y) == (unordered || __hle(y, x)));
      CHECK(__hleu(x, y) == (unordered || __hle(x, y)));
      CHECK(__hequ(x, y) == (unordered || __heq(x, y)));
      CHECK(__hneu(x, y) == !__heq(x, y));
      CHECK(static_cast<float>(__hsub_sat(x, y)) == static_cast<float>(__hadd_sat(x, __hneg(y))));
    }
  }
}

}  // namespace

// FEATURE: numbers: `__half`, `__nv_bfloat16` and pairs of them
TEST_CASE("every function returns what an H200 returns, for all inputs") {
  if (small_sizes()) return;  // the host computes them: the order of threads changes nothing
  auto stored = stored_samples("tests/backend/h200_short_floats.csv");
  const std::vector<short_float_samples::Row> functions = short_float_samples::all_functions();
  REQUIRE(stored.size() == functions.size() + 1);  // and the line that heads them
  for (const short_float_samples::Row& function : functions) {
    INFO(function.name);
    CHECK(short_float_samples::digest_of(function.samples()) == stored[function.name]);
  }
}

// FEATURE: atomics and order: `atomicAdd` of `__half2` and `__nv_bfloat16`
TEST_CASE("shuffles and atomics take them") {
  std::vector<__half> x(32);
  for (int i = 0; i < 32; ++i) x[static_cast<unsigned>(i)] = i;
  const DeviceArray<__half> d_x(x), d_sum(1);
  const DeviceArray<__half2> d_pairs(32);
  sum_of_warp<<<1, 32>>>(d_x.get(), d_sum.get(), d_pairs.get());
  CUDA_CHECK_LAUNCH();
  CHECK(__half2float(d_sum.download()[0]) == 496);
  const std::vector<__half2> pairs = d_pairs.download();
  for (unsigned i = 0; i < 32; ++i) {
    CHECK(__low2float(pairs[i]) == static_cast<float>(i ^ 1));
    CHECK(__high2float(pairs[i]) == -static_cast<float>(i ^ 1));
  }

  const std::vector<__nv_bfloat16> ones(64, __nv_bfloat16(1.0f));
  const DeviceArray<__nv_bfloat16> d_ones(ones), d_total(std::vector<__nv_bfloat16>{0.0f});
  add_all<<<1, 64>>>(d_ones.get(), d_total.get());
  CUDA_CHECK_LAUNCH();
  CHECK(__bfloat162float(d_total.download()[0]) == 64);

  const DeviceArray<__half2> d_pair(std::vector<__half2>{__half2(0.0f, 0.0f)});
  add_pairs<<<1, 32>>>(d_pair.get());
  CUDA_CHECK_LAUNCH();
  CHECK(__low2float(d_pair.download()[0]) == 32);
  CHECK(__high2float(d_pair.download()[0]) == 64);
}

TEST_CASE("comparisons know NaN, infinities and both zeros") {
  check_other_comparisons<__half>();
  check_other_comparisons<__nv_bfloat16>();
}

TEST_CASE("pairs work half by half") {
  const __half2 a(1.0f, 2.0f), b(3.0f, -4.0f);
  CHECK(__half22float2(a + b).y == -2);
  CHECK(__half22float2(__hfma2(a, b, a)).x == 4);
  CHECK(__half22float2(__hgt2(a, b)).x == 0);
  CHECK(__half22float2(__hgt2(a, b)).y == 1);
  CHECK(__hgt2_mask(a, b) == 0xffff0000u);
  CHECK_FALSE(__hbgt2(a, b));
  CHECK(__hbeq2(__lowhigh2highlow(a), __half2(2.0f, 1.0f)));
  CHECK(__half2float(__hadd_sat(a.x, b.x)) == 1);
  CHECK(__half2float(__hfma_relu(a.x, b.y, a.x)) == 0);
  CHECK(__half2float(hsqrt(__half(2.25f))) == 1.5f);
}
