// SPDX-License-Identifier: MIT
// Numbers of 16 bits: conversions and arithmetic in kernels, for all 65,536 inputs.
// stored_samples.cu stores what an H200 computes, in h200_short_floats.csv;
// short_floats.test.cu asks the CPU backend for the same.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../../common/common.cuh"

namespace short_float_samples {

constexpr unsigned kInputs = 65536, kPartners = 8, kSeed = 16;
constexpr unsigned kGroup = 4096;  // inputs that one number in the file stands for

/// FNV-1a.
struct Digest {
  std::uint32_t value = 2166136261u;
  __host__ __device__ void add(std::uint64_t x) {
    value = (value ^ static_cast<std::uint32_t>(x)) * 16777619u;
    value = (value ^ static_cast<std::uint32_t>(x >> 32)) * 16777619u;
  }
};

__device__ inline __half of_bits(unsigned bits, __half) {
  return __ushort_as_half(static_cast<unsigned short>(bits));
}
__device__ inline __nv_bfloat16 of_bits(unsigned bits, __nv_bfloat16) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(bits));
}

// What a function returns as a number; every NaN is the same.
__device__ inline std::uint64_t number(__half x) {
  return __hisnan(x) ? 0x7fff : __half_as_ushort(x);
}
__device__ inline std::uint64_t number(__nv_bfloat16 x) {
  return __hisnan(x) ? 0x7fff : __bfloat16_as_ushort(x);
}
__device__ inline std::uint64_t number(float x) {
  return isnan(x) ? 0x7fffffff : __float_as_uint(x);
}
template <class Integer>
__device__ std::uint64_t number(Integer x) {
  return static_cast<std::uint64_t>(x);
}

/// A function of a number of 16 bits and of up to two others.
template <class T, class Function>
__global__ void apply(std::uint32_t* digests) {
  const unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;
  Digest digest;
  for (unsigned i = 0; i < kPartners; ++i) {
    // Half of the partners are anything, the others differ in the sign and the 12 lowest bits.
    const std::uint64_t random = random_bits(kSeed, bits * kPartners + i);
    const unsigned near = bits ^ (static_cast<unsigned>(random) & 0x8fff);
    const unsigned partner = i % 2 == 0 ? static_cast<unsigned>(random) & 0xffff : near;
    const unsigned third = static_cast<unsigned>(random >> 32) & 0xffff;
    digest.add(
        number(Function()(of_bits(bits, T()), of_bits(partner, T()), of_bits(third, T()), random)));
  }
  digests[bits] = digest.value;
}

template <class T, class Function>
std::vector<std::uint32_t> samples() {
  const DeviceArray<std::uint32_t> digests(kInputs);
  apply<T, Function><<<kInputs / 256, 256>>>(digests.get());
  CUDA_CHECK_LAUNCH();
  return digests.download();
}

// A function: what it makes of the numbers x, y and z, or of 64 bits.
#define SHORT_FLOAT_FUNCTION(name, expression)                        \
  struct name {                                                       \
    template <class T>                                                \
    __device__ auto operator()(T x, T y, T z, std::uint64_t random) { \
      (void)x, (void)y, (void)z, (void)random;                        \
      return expression;                                              \
    }                                                                 \
  };

// Those that both types have under one name. X(name, expression)
#define SHORT_FLOAT_OF_BOTH(X)                   \
  X(add, __hadd(x, y))                           \
  X(subtract, __hsub(x, y))                      \
  X(multiply, __hmul(x, y))                      \
  X(divide, __hdiv(x, y))                        \
  X(multiply_add, __hfma(x, y, z))               \
  X(add_saturated, __hadd_sat(x, y))             \
  X(multiply_saturated, __hmul_sat(x, y))        \
  X(multiply_add_saturated, __hfma_sat(x, y, z)) \
  X(multiply_add_relu, __hfma_relu(x, y, z))     \
  X(smaller, __hmin(x, y))                       \
  X(larger, __hmax(x, y))                        \
  X(smaller_or_nan, __hmin_nan(x, y))            \
  X(larger_or_nan, __hmax_nan(x, y))             \
  X(negative, __hneg(x))                         \
  X(absolute, __habs(x))                         \
  X(equal, __heq(x, y))                          \
  X(unequal, __hne(x, y))                        \
  X(less, __hlt(x, y))                           \
  X(at_most, __hle(x, y))                        \
  X(less_or_unordered, __hltu(x, y))             \
  X(is_nan, __hisnan(x))                         \
  X(is_infinite, __hisinf(x))                    \
  X(square_root, hsqrt(x))                       \
  X(reciprocal, hrcp(x))                         \
  X(reciprocal_root, hrsqrt(x))                  \
  X(rounded, hrint(x))                           \
  X(rounded_down, hfloor(x))                     \
  X(rounded_up, hceil(x))                        \
  X(truncated, htrunc(x))                        \
  X(exponential, hexp(x))                        \
  X(exponential_2, hexp2(x))                     \
  X(exponential_10, hexp10(x))                   \
  X(logarithm, hlog(x))                          \
  X(logarithm_2, hlog2(x))                       \
  X(logarithm_10, hlog10(x))                     \
  X(sine, hsin(x))                               \
  X(cosine, hcos(x))

// Conversions of `type` to and from others, in each direction of rounding.
#define SHORT_FLOAT_ROUNDINGS(X, type, mode)                                                 \
  X(type##_of_float_##mode, __float2##type##_##mode(float_near(x, random)))                  \
  X(type##_of_int_##mode, __int2##type##_##mode(static_cast<int>(number_of(random))))        \
  X(int_of_##type##_##mode, __##type##2int_##mode(x))                                        \
  X(type##_of_uint_##mode, __uint2##type##_##mode(static_cast<unsigned>(number_of(random)))) \
  X(uint_of_##type##_##mode, __##type##2uint_##mode(x))                                      \
  X(type##_of_short_##mode, __short2##type##_##mode(static_cast<short>(number_of(random))))  \
  X(short_of_##type##_##mode, __##type##2short_##mode(x))                                    \
  X(type##_of_ushort_##mode,                                                                 \
    __ushort2##type##_##mode(static_cast<unsigned short>(number_of(random))))                \
  X(ushort_of_##type##_##mode, __##type##2ushort_##mode(x))                                  \
  X(type##_of_ll_##mode, __ll2##type##_##mode(static_cast<long long>(number_of(random))))    \
  X(ll_of_##type##_##mode, __##type##2ll_##mode(x))                                          \
  X(type##_of_ull_##mode,                                                                    \
    __ull2##type##_##mode(static_cast<unsigned long long>(number_of(random))))               \
  X(ull_of_##type##_##mode, __##type##2ull_##mode(x))
#define SHORT_FLOAT_CONVERSIONS(X, type)  \
  X(float_of_##type, __##type##2float(x)) \
  SHORT_FLOAT_ROUNDINGS(X, type, rn)      \
  SHORT_FLOAT_ROUNDINGS(X, type, rz)      \
  SHORT_FLOAT_ROUNDINGS(X, type, rd)      \
  SHORT_FLOAT_ROUNDINGS(X, type, ru)

/// A float whose upper half is `x`, and whose lower half is a tie, beside one, or anything.
template <class T>
__device__ float float_near(T x, std::uint64_t random) {
  const unsigned lower[] = {0, 0x8000, 0x7fff, 0x8001, 0x1000, 0xfff, 1, 0};
  const auto any = static_cast<unsigned>(random >> 48);
  const unsigned low = random % 16 < 8 ? lower[random % 8] : any;
  return __uint_as_float(static_cast<unsigned>(number(x)) << 16 | low);
}
/// An integer of up to 64 bits, of any length.
__device__ inline std::uint64_t number_of(std::uint64_t random) {
  return random_bits(kSeed, random) >> (random & 63);
}

SHORT_FLOAT_OF_BOTH(SHORT_FLOAT_FUNCTION)
SHORT_FLOAT_CONVERSIONS(SHORT_FLOAT_FUNCTION, half)
SHORT_FLOAT_CONVERSIONS(SHORT_FLOAT_FUNCTION, bfloat16)

/// A function's name, and how to ask for its samples.
struct Row {
  const char* name;
  std::vector<std::uint32_t> (*samples)();
};

inline std::vector<Row> all_functions() {
#define SHORT_FLOAT_HALF(name, expression) {"__half " #name, samples<__half, name>},
#define SHORT_FLOAT_BFLOAT16(name, expression) \
  {"__nv_bfloat16 " #name, samples<__nv_bfloat16, name>},
  return {SHORT_FLOAT_OF_BOTH(SHORT_FLOAT_HALF) SHORT_FLOAT_CONVERSIONS(SHORT_FLOAT_HALF, half)
              SHORT_FLOAT_OF_BOTH(SHORT_FLOAT_BFLOAT16)
                  SHORT_FLOAT_CONVERSIONS(SHORT_FLOAT_BFLOAT16, bfloat16)};
#undef SHORT_FLOAT_HALF
#undef SHORT_FLOAT_BFLOAT16
}

/// A number in base 16 for each kGroup inputs.
inline std::string digest_of(const std::vector<std::uint32_t>& samples) {
  std::string text;
  for (unsigned first = 0; first < kInputs; first += kGroup) {
    Digest digest;
    for (unsigned i = 0; i < kGroup; ++i) digest.add(samples[first + i]);
    char number[16];
    std::snprintf(number, sizeof(number), "%s%08x", first == 0 ? "" : " ", digest.value);
    text += number;
  }
  return text;
}

}  // namespace short_float_samples
