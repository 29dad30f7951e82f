// SPDX-License-Identifier: MIT
// The values that __half and __nv_bfloat16 of the CPU backend have.
//
// Digests in this file are those of the toolkit's own functions on a host (CUDA 13.0, cuda_fp16.hpp
// and cuda_bf16.hpp): of all 65,536 inputs, or of half a million pairs, with every NaN as 0x7fff.
// It has no fused multiply-add there, so that one is compared with integer arithmetic.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "../catch.hpp"

namespace {

// FNV-1a, a value at a time.
class Digest {
 public:
  void add(std::uint64_t value) { hash_ = (hash_ ^ value) * 1099511628211u; }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 1469598103934665603u;
};

// Marsaglia's xorshift64, with the shifts 13, 7, 17.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

 private:
  std::uint64_t state_;
};
constexpr std::uint64_t kSeed = 88172645463325252u;

template <class T>
T of_bits(unsigned bits) {
  const auto word = static_cast<unsigned short>(bits);
  T value;
  std::memcpy(static_cast<void*>(&value), &word, sizeof(word));
  return value;
}
template <class T>
unsigned bits_of(T value) {
  unsigned short word;
  std::memcpy(&word, &value, sizeof(word));
  return __hisnan(value) ? 0x7fff : word;
}

template <class T, class Operation>
std::uint64_t of_pairs(Operation operation) {
  Digest digest;
  Random random(kSeed);
  const unsigned edges[] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400, 0x7bff,
                            0x7c00, 0xfc00, 0x7e00, 0x3c00, 0xbc00, 0x7f,  0x80,
                            0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x3f80, 0xbf80};
  for (const unsigned x : edges) {
    for (const unsigned y : edges) digest.add(operation(of_bits<T>(x), of_bits<T>(y)));
  }
  for (int i = 0; i < 500'000; ++i) {
    const std::uint64_t bits = random.next();
    digest.add(operation(of_bits<T>(bits & 0xffff), of_bits<T>(bits >> 16 & 0xffff)));
  }
  return digest.value();
}
#define RESULTS(T, name) of_pairs<T>([](T x, T y) { return bits_of(name(x, y)); })
#define TRUTHS(T, name) of_pairs<T>([](T x, T y) { return static_cast<unsigned>(name(x, y)); })

template <class T, class Function>
std::uint64_t of_all(Function function) {
  Digest digest;
  for (unsigned i = 0; i < 65536; ++i)
    digest.add(static_cast<std::uint64_t>(function(of_bits<T>(i))));
  return digest.value();
}

template <class T, class Convert>
std::uint64_t of_floats(Convert convert) {
  Digest digest;
  Random random(7);
  const auto add = [&](std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    digest.add(bits_of(convert(value)));
  };
  for (int i = 0; i < 1'500'000; ++i) {
    auto bits = static_cast<std::uint32_t>(random.next());
    if (i % 3 == 0) {  // about the subnormals of __half
      bits = (bits & 0x80ffffffu) +
             static_cast<std::uint32_t>(0x33000000u + random.next() % 0x15 * 0x800000u);
    }
    add(bits);
  }
  for (std::uint32_t i = 0; i < 65536; ++i) {  // on, halfway between, and just below
    add(i << 16);
    add(i << 16 | 0x8000);
    add(i << 16 | 0x7fff);
  }
  return digest.value();
}

template <class T, class Integer, class Convert>
std::uint64_t of_integers(Convert convert) {
  Digest digest;
  Random random(99);
  for (int i = 0; i < 700'000; ++i) {
    const std::uint64_t bits = random.next();
    digest.add(bits_of(convert(static_cast<Integer>(bits >> (random.next() & 63)))));
  }
  return digest.value();
}

TEST_CASE("arithmetic rounds as the toolkit's") {
  CHECK(RESULTS(__half, __hadd) == 0x3870c9eb7aa7714eu);
  CHECK(RESULTS(__half, __hsub) == 0xdc24e251556be8a2u);
  CHECK(RESULTS(__half, __hmul) == 0x8d9d3a3df4363e52u);
  CHECK(RESULTS(__half, __hdiv) == 0x1041c6fea24a2bf2u);
  CHECK(RESULTS(__half, __hmax) == 0x4fabc163887f4c19u);
  CHECK(RESULTS(__half, __hmin) == 0xdcbe80169aa847bau);
  CHECK(RESULTS(__half, __hadd_sat) == 0xa846133c9483c691u);
  CHECK(RESULTS(__half, __hmul_sat) == 0xc01a92598536aadfu);
  CHECK(RESULTS(__half, __hsub_sat) == 0x8b429f1ce9cc064bu);
  CHECK(RESULTS(__nv_bfloat16, __hadd) == 0x22fa13b89a48545bu);
  CHECK(RESULTS(__nv_bfloat16, __hsub) == 0xd47a75e82012b1e1u);
  CHECK(RESULTS(__nv_bfloat16, __hmul) == 0x99134df3ed372bbeu);
  CHECK(RESULTS(__nv_bfloat16, __hdiv) == 0x4dddd0b28ded9f71u);
  CHECK(RESULTS(__nv_bfloat16, __hmax) == 0xeada11243e002f75u);
  CHECK(RESULTS(__nv_bfloat16, __hmin) == 0xcb0d8a61a914bf57u);
  CHECK(RESULTS(__nv_bfloat16, __hadd_sat) == 0xe0511cf274dc3115u);
  CHECK(RESULTS(__nv_bfloat16, __hmul_sat) == 0x7494e828ecc05431u);
  CHECK(RESULTS(__nv_bfloat16, __hsub_sat) == 0xdb99b92ecf79e33au);
}

TEST_CASE("comparisons know NaN and both zeros") {
  CHECK(TRUTHS(__half, __heq) == 0x241da0a4e3690389u);
  CHECK(TRUTHS(__half, __hne) == 0xd1f2d2cd27c155adu);
  CHECK(TRUTHS(__half, __hlt) == 0x1ba3c24a510f5d5au);
  CHECK(TRUTHS(__half, __hle) == 0xe2e79740cd4dbce8u);
  CHECK(TRUTHS(__half, __hgt) == 0xe1ef5b57c7380eb0u);
  CHECK(TRUTHS(__half, __hge) == 0x8a3608b8012bc006u);
  CHECK(TRUTHS(__half, __hequ) == 0x1fed9bfdb0a1e269u);
  CHECK(TRUTHS(__half, __hneu) == 0xe0a2a0c5b20226a9u);
  CHECK(TRUTHS(__half, __hltu) == 0x025bbf90b34d307au);
  CHECK(TRUTHS(__half, __hleu) == 0x1c042a9359ae315cu);
  CHECK(TRUTHS(__half, __hgtu) == 0xb4a019f93c5d0b50u);
  CHECK(TRUTHS(__half, __hgeu) == 0x334f4a10935665c2u);
  CHECK(TRUTHS(__nv_bfloat16, __heq) == 0x5ca75229fa9b0880u);
  CHECK(TRUTHS(__nv_bfloat16, __hne) == 0xeeaf765f7e9c3d24u);
  CHECK(TRUTHS(__nv_bfloat16, __hlt) == 0x976ccffd26137234u);
  CHECK(TRUTHS(__nv_bfloat16, __hle) == 0xcd74ab5af2d90357u);
  CHECK(TRUTHS(__nv_bfloat16, __hgt) == 0xb950093298681913u);
  CHECK(TRUTHS(__nv_bfloat16, __hge) == 0xe681e949801a01a8u);
  CHECK(TRUTHS(__nv_bfloat16, __hequ) == 0x8940ee9763de61b8u);
  CHECK(TRUTHS(__nv_bfloat16, __hneu) == 0x6def86e533c25200u);
  CHECK(TRUTHS(__nv_bfloat16, __hltu) == 0x2ae3d14f871feb0cu);
  CHECK(TRUTHS(__nv_bfloat16, __hleu) == 0xfe871f0754bcd997u);
  CHECK(TRUTHS(__nv_bfloat16, __hgtu) == 0x2e22af0090fafe77u);
  CHECK(TRUTHS(__nv_bfloat16, __hgeu) == 0x15d97b93209527d4u);
}

TEST_CASE("conversions round in each direction") {
  CHECK(of_floats<__half>(__float2half) == 0xe03c975b5f1ba029u);
  CHECK(of_floats<__half>(__float2half_rz) == 0x6e1c5de9b64facd0u);
  CHECK(of_floats<__half>(__float2half_rd) == 0x9312fb3f137b4979u);
  CHECK(of_floats<__half>(__float2half_ru) == 0xbbc5ffdb19038987u);
  CHECK(of_floats<__nv_bfloat16>(__float2bfloat16) == 0xc683d27d196c6e29u);
  CHECK(of_floats<__nv_bfloat16>(__float2bfloat16_rz) == 0x416b934c281fb7a7u);
  CHECK(of_floats<__nv_bfloat16>(__float2bfloat16_rd) == 0x63c8bfa67ddf217au);
  CHECK(of_floats<__nv_bfloat16>(__float2bfloat16_ru) == 0x39b229fb163bb27cu);
  CHECK(of_all<__half>(__half2int_rz) == 0xb01e548c7db9b47cu);
  CHECK(of_all<__half>(__half2short_rz) == 0x9e0e7d40d917707cu);
  CHECK(of_all<__nv_bfloat16>(__bfloat162int_rz) == 0x0c29d48a6f76cbfcu);
  CHECK(of_all<__nv_bfloat16>(__bfloat162short_rz) == 0x497cfc2382e3f7fcu);
  CHECK(of_integers<__half, int>(__int2half_rn) == 0x89d787dc5d896c56u);
  CHECK(of_integers<__half, int>(__int2half_rz) == 0xabb1a7d5cde28f6fu);
  CHECK(of_integers<__half, int>(__int2half_rd) == 0x166c090af8da6d57u);
  CHECK(of_integers<__half, int>(__int2half_ru) == 0x9586191ea179f370u);
  CHECK(of_integers<__half, unsigned>(__uint2half_rn) == 0x705bfd465ce577e4u);
  CHECK(of_integers<__half, long long>(__ll2half_rn) == 0xcd35056f93b08655u);
  CHECK(of_integers<__half, unsigned long long>(__ull2half_rn) == 0xe039f0231c1c8655u);
  CHECK(of_integers<__half, short>(__short2half_rn) == 0x6a5e86e1e66cf0b3u);
  CHECK(of_integers<__nv_bfloat16, int>(__int2bfloat16_rn) == 0xaaac206542576b7du);
  CHECK(of_integers<__nv_bfloat16, long long>(__ll2bfloat16_rn) == 0x89359261c1db5869u);
  CHECK(of_integers<__nv_bfloat16, unsigned long long>(__ull2bfloat16_rn) == 0x77810ea986959d6cu);
}

// ---- fused multiply-add: a * b + c in units of 2^-48, exactly
// ------------------------------------

__extension__ using Wide = __int128;

Wide in_units(__half value) {
  // A half is a whole number of 2^-24.
  return static_cast<Wide>(static_cast<double>(__half2float(value)) * 16777216.0);
}

// The half nearest to total * 2^-48; `zero` is what an exact zero is.
unsigned nearest_half(Wide total, unsigned zero) {
  if (total == 0) return zero;
  const bool negative = total < 0;
  const Wide magnitude = negative ? -total : total;
  int top = 0;
  while ((magnitude >> (top + 1)) != 0) ++top;
  const int unit = top > 34 ? top - 10 : 24;  // the place of the result's last bit
  Wide kept = magnitude >> unit;
  const Wide rest = magnitude - (kept << unit), half = static_cast<Wide>(1) << (unit - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  const Wide bits = (static_cast<Wide>(unit - 24) << 10) + kept;
  const auto word = static_cast<unsigned>(bits < 0x7c00 ? bits : 0x7c00);
  return word | (negative ? 0x8000u : 0u);
}

TEST_CASE("a fused multiply-add rounds once") {
  Random random(5);
  int inexact_in_double = 0;
  for (int i = 0; i < 500'000; ++i) {
    const std::uint64_t bits = random.next();
    const auto a = of_bits<__half>(bits & 0xffff), b = of_bits<__half>(bits >> 16 & 0xffff),
               c = of_bits<__half>(bits >> 32 & 0xffff);
    if (__hisnan(a) || __hisnan(b) || __hisnan(c)) continue;
    if (__hisinf(a) != 0 || __hisinf(b) != 0 || __hisinf(c) != 0) continue;
    const Wide product = in_units(a) * in_units(b), addend = in_units(c) * 16777216;
    if (product + addend == 0) continue;
    const unsigned expected = nearest_half(product + addend, 0);
    if (bits_of(__hfma(a, b, c)) != expected) {
      CAPTURE(bits_of(a), bits_of(b), bits_of(c));
      REQUIRE(bits_of(__hfma(a, b, c)) == expected);
    }
    const double sum = static_cast<double>(product) + static_cast<double>(addend);
    inexact_in_double += static_cast<Wide>(sum) != product + addend;
  }
  CHECK(inexact_in_double > 100);
  // 1 + 2^-11 is halfway between two halves; 2^-24 * 2^-24 more decides, and no double holds all.
  const auto one = __half(1.0f), tiny = of_bits<__half>(1), halfway = __half(0.00048828125f);
  CHECK(bits_of(__hfma(one, one, halfway)) == 0x3c00);
  CHECK(bits_of(__hfma(one, halfway, one)) == 0x3c00);
  CHECK(bits_of(__hfma(tiny, tiny, one)) == 0x3c00);
  // bfloat16: 2^-100 * 2^-100 beside 1 + 2^-8, which is halfway.
  const auto small = __nv_bfloat16(7.888609052210118e-31f), x = of_bits<__nv_bfloat16>(0x3f81);
  CHECK(bits_of(__hfma(small, small, x)) == 0x3f81);
  CHECK(bits_of(__hfma(x, x, __nv_bfloat16(0.0f))) == bits_of(__hmul(x, x)));
}

}  // namespace
