// SPDX-License-Identifier: MIT
// Compares intrinsics with definitions written out bit by bit. Then cached loads, clocks, and what
// of C++ a kernel may do.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "../catch.hpp"
#include "../kernel_testing.cuh"

namespace {

// Bit patterns where off-by-one errors show, then many in no order.
std::vector<std::uint64_t> patterns() {
  std::vector<std::uint64_t> result = {0,           1,           2,           3,
                                       0x80000000u, 0x7fffffffu, 0xffffffffu, 0x100000000u};
  result.insert(result.end(), {~0ull, 1ull << 63, (1ull << 63) - 1, 0xaaaaaaaaaaaaaaaaull,
                               0x0123456789abcdefull});
  std::uint64_t x = 88172645463325252ull;
  for (int i = 0; i < 300; ++i) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    result.push_back(x >> (i % 64));
  }
  return result;
}

int count_bits(std::uint64_t x) {
  int n = 0;
  for (int i = 0; i < 64; ++i) n += static_cast<int>((x >> i) & 1);
  return n;
}

// Position of the highest and the lowest set bit, -1 for none.
int highest(std::uint64_t x) {
  for (int i = 63; i >= 0; --i) {
    if ((x >> i) & 1) return i;
  }
  return -1;
}
int lowest(std::uint64_t x) {
  for (int i = 0; i < 64; ++i) {
    if ((x >> i) & 1) return i;
  }
  return -1;
}

std::uint64_t reversed(std::uint64_t x, int bits) {
  std::uint64_t result = 0;
  for (int i = 0; i < bits; ++i) result |= ((x >> i) & 1) << (bits - 1 - i);
  return result;
}

}  // namespace

// FEATURE: numbers: functions on bits: `__popc`, `__clz`, `__ffs`, `__brev`
TEST_CASE("bit intrinsics agree with a loop over the bits") {
  for (const std::uint64_t x : patterns()) {
    const unsigned u = static_cast<unsigned>(x);
    const int i = static_cast<int>(u);
    CAPTURE(x);
    REQUIRE(__popc(u) == count_bits(u));
    REQUIRE(__popcll(x) == count_bits(x));
    REQUIRE(__clz(i) == 31 - highest(u));
    REQUIRE(__clzll(static_cast<long long>(x)) == 63 - highest(x));
    REQUIRE(__ffs(i) == lowest(u) + 1);
    REQUIRE(__ffsll(static_cast<long long>(x)) == lowest(x) + 1);
    REQUIRE(__brev(u) == reversed(u, 32));
    REQUIRE(__brevll(x) == reversed(x, 64));
  }
  REQUIRE(__fns(0b101100, 0, 1) == 2);
  REQUIRE(__fns(0b101100, 0, 3) == 5);
  REQUIRE(__fns(0b101100, 2, 1) == 2);
  REQUIRE(__fns(0b101100, 4, -1) == 3);
  REQUIRE(__fns(0b101100, 0, 4) == 0xffffffffu);
  REQUIRE(__fns(0b101100, 3, 0) == 3);
}

// FEATURE: numbers: functions on integers: `__umulhi`, `__dp4a`, `__byte_perm`, `__funnelshift_l`
TEST_CASE("integer intrinsics agree with wider arithmetic") {
  __extension__ typedef __int128 Wide;
  __extension__ typedef unsigned __int128 UnsignedWide;
  const std::vector<std::uint64_t> all = patterns();
  for (std::size_t k = 0; k + 1 < all.size(); ++k) {
    const std::uint64_t x = all[k], y = all[k + 1];
    const unsigned a = static_cast<unsigned>(x), b = static_cast<unsigned>(y);
    const int p = static_cast<int>(a), q = static_cast<int>(b);
    CAPTURE(x, y);
    REQUIRE(__umulhi(a, b) == static_cast<unsigned>((std::uint64_t{a} * b) >> 32));
    REQUIRE(__mulhi(p, q) == static_cast<int>((std::int64_t{p} * q) >> 32));
    REQUIRE(__umul64hi(x, y) == static_cast<std::uint64_t>((UnsignedWide{x} * y) >> 64));
    REQUIRE(__mul64hi(static_cast<long long>(x), static_cast<long long>(y)) ==
            static_cast<long long>((Wide{static_cast<long long>(x)} * static_cast<long long>(y)) >>
                                   64));
    REQUIRE(__umul24(a, b) == (a & 0xffffff) * (b & 0xffffff));
    const auto sign24 = [](unsigned v) {
      const int low = static_cast<int>(v & 0xffffff);
      return std::int64_t{low >= 0x800000 ? low - 0x1000000 : low};
    };
    REQUIRE(static_cast<unsigned>(__mul24(p, q)) == static_cast<unsigned>(sign24(a) * sign24(b)));
    REQUIRE(__usad(a, b, 5) == (a > b ? a - b : b - a) + 5);
    REQUIRE(__sad(p, q, 5) == static_cast<unsigned>(std::llabs(std::int64_t{p} - q)) + 5);
    REQUIRE(__uhadd(a, b) == (std::uint64_t{a} + b) / 2);
    REQUIRE(__urhadd(a, b) == (std::uint64_t{a} + b + 1) / 2);
    REQUIRE(__hadd(p, q) == static_cast<int>(std::floor((static_cast<double>(p) + q) / 2)));
    REQUIRE(__rhadd(p, q) == static_cast<int>(std::ceil((static_cast<double>(p) + q) / 2)));
    for (const unsigned shift : {0u, 1u, 31u, 32u, 33u, 100u}) {
      const std::uint64_t both = (std::uint64_t{b} << 32) | a;
      const unsigned clamped = shift > 32 ? 32 : shift;
      REQUIRE(__funnelshift_r(a, b, shift) == static_cast<unsigned>(both >> (shift % 32)));
      REQUIRE(__funnelshift_l(a, b, shift) == static_cast<unsigned>((both << (shift % 32)) >> 32));
      REQUIRE(__funnelshift_rc(a, b, shift) == static_cast<unsigned>(both >> clamped));
      REQUIRE(__funnelshift_lc(a, b, shift) ==
              (clamped == 32 ? a : static_cast<unsigned>((both << clamped) >> 32)));
    }
  }
  REQUIRE(__byte_perm(0x33221100u, 0x77665544u, 0x7410) == 0x77441100u);
  REQUIRE(__byte_perm(0x000080ffu, 0, 0x9898) == 0xffffffffu);
  REQUIRE(__byte_perm(0x0000007fu, 0, 0x8888) == 0u);
  REQUIRE(__dp4a(0x01ff02fe, 0x03030303, 10) == 10 + 3 - 3 + 6 - 6);
  REQUIRE(__dp4a(0x01ff02feu, 0x03030303u, 10u) == 10 + 3 + 3 * 255 + 6 + 3 * 254);
}

// Part k of a word, of 16 or 8 bits.
template <int kParts>
int part(unsigned word, int k, bool is_signed) {
  const int bits = 32 / kParts;
  const int value = static_cast<int>(word >> (k * bits) & ((1u << bits) - 1));
  return is_signed && value >= 1 << (bits - 1) ? value - (1 << bits) : value;
}

// Whether each part of the result is what `expected` gives for those of a and b, cut to their size.
template <int kParts, class Expected>
bool agrees(unsigned result, unsigned a, unsigned b, bool is_signed, Expected expected) {
  for (int k = 0; k < kParts; ++k) {
    const int e = expected(part<kParts>(a, k, is_signed), part<kParts>(b, k, is_signed));
    if (part<kParts>(result, k, false) != part<kParts>(static_cast<unsigned>(e), 0, false)) {
      return false;
    }
  }
  return true;
}

int limited(int value, int least, int most) { return std::min(std::max(value, least), most); }

// FEATURE: numbers: SIMD within a word: `__vadd4` and its like
TEST_CASE("integers within a word are added, compared and limited each for itself") {
  std::vector<unsigned> words;
  for (const std::uint64_t p : patterns()) {
    words.push_back(static_cast<unsigned>(p));
    words.push_back(static_cast<unsigned>(p >> 32));
  }
  for (const unsigned x : {0x80ff7f00u, 0x7f80ff01u, 0x80007fffu, 0xff7f8001u}) words.push_back(x);
  const auto add = [](int x, int y) { return x + y; };
  const auto subtract = [](int x, int y) { return x - y; };
  const auto distance = [](int x, int y) { return std::abs(x - y); };
  for (std::size_t i = 0; i < words.size(); i += 3) {
    for (const unsigned b : words) {
      const unsigned a = words[i];
      bool right = agrees<4>(__vadd4(a, b), a, b, false, add);
      right = right && agrees<2>(__vadd2(a, b), a, b, false, add);
      right = right && agrees<4>(__vsub4(a, b), a, b, true, subtract);
      right = right && agrees<2>(__vsub2(a, b), a, b, true, subtract);
      right = right && agrees<4>(__vaddss4(a, b), a, b, true,
                                 [](int x, int y) { return limited(x + y, -128, 127); });
      right = right && agrees<2>(__vaddus2(a, b), a, b, false,
                                 [](int x, int y) { return limited(x + y, 0, 65535); });
      right = right && agrees<2>(__vsubss2(a, b), a, b, true,
                                 [](int x, int y) { return limited(x - y, -32768, 32767); });
      right = right && agrees<4>(__vsubus4(a, b), a, b, false,
                                 [](int x, int y) { return limited(x - y, 0, 255); });
      right = right && agrees<4>(__vabsdiffu4(a, b), a, b, false, distance);
      right = right && agrees<2>(__vabsdiffs2(a, b), a, b, true, distance);
      right = right &&
              agrees<4>(__vavgu4(a, b), a, b, false, [](int x, int y) { return (x + y + 1) / 2; });
      right = right &&
              agrees<4>(__vhaddu4(a, b), a, b, false, [](int x, int y) { return (x + y) / 2; });
      right = right &&
              agrees<2>(__vmaxs2(a, b), a, b, true, [](int x, int y) { return std::max(x, y); });
      right = right &&
              agrees<4>(__vminu4(a, b), a, b, false, [](int x, int y) { return std::min(x, y); });
      right = right && agrees<4>(__vcmpgts4(a, b), a, b, true,
                                 [](int x, int y) { return x > y ? 0xff : 0; });
      right = right &&
              agrees<2>(__vsetleu2(a, b), a, b, false, [](int x, int y) { return x <= y ? 1 : 0; });
      unsigned sum = 0;
      for (int k = 0; k < 4; ++k) {
        sum += static_cast<unsigned>(distance(part<4>(a, k, true), part<4>(b, k, true)));
      }
      right = right && __vsads4(a, b) == sum;
      INFO(std::hex << a << ' ' << b);
      REQUIRE(right);
    }
    const unsigned a = words[i];
    REQUIRE(agrees<4>(__vneg4(a), a, 0, true, [](int x, int) { return -x; }));
    REQUIRE(
        agrees<4>(__vabsss4(a), a, 0, true, [](int x, int) { return std::min(std::abs(x), 127); }));
  }
  CHECK(__vabs4(0x80ff0102u) == 0x80010102u);  // the least number has no opposite
  CHECK(__vnegss2(0x80000001u) == 0x7fffffffu);
}

TEST_CASE("minimum and maximum take mixed types as nvcc does, and prefer numbers to NaN") {
  REQUIRE(min(-1, 2) == -1);
  REQUIRE(max(-1, 2u) == 0xffffffffu);  // compared as unsigned
  REQUIRE(min(3ull, 2ull) == 2);
  REQUIRE(max(-5ll, -6ll) == -5);
  REQUIRE(min(1.5f, 2.5f) == 1.5f);
  REQUIRE(max(1.5f, 2.5) == 2.5);
  REQUIRE(min(std::nanf(""), 3.0f) == 3.0f);
  REQUIRE(max(2.0, std::nan("")) == 2.0);
  REQUIRE(umin(3u, 4u) == 3);
  REQUIRE(llmax(3, 4) == 4);
  static_assert(min(2, 3) == 2 && max(2u, 3u) == 3, "usable in constant expressions");
  static_assert(std::is_same<decltype(min(1.0f, 2.0f)), float>::value, "");
  static_assert(std::is_same<decltype(min(std::size_t(1), std::size_t(2))), std::size_t>::value,
                "");
}

// FEATURE: numbers: mathematical functions, also fast ones (`__expf`)
TEST_CASE("float intrinsics round once, and bits survive their conversions") {
  const float third = 1.0f / 3.0f;
  REQUIRE(__fmaf_rn(third, 3.0f, -1.0f) == std::fma(third, 3.0f, -1.0f));
  REQUIRE(__fmaf_rn(third, 3.0f, -1.0f) != 0.0f);
  REQUIRE(__fmul_rn(third, 3.0f) - 1.0f == 0.0f);  // not fused
  REQUIRE(__fadd_rn(1e8f, 1.0f) == 1e8f);
  REQUIRE(__fsub_rn(1.0f, third) == 1.0f - third);
  REQUIRE(__fdiv_rn(1.0f, 3.0f) == third);
  REQUIRE(__frcp_rn(3.0f) == third);
  REQUIRE(__fsqrt_rn(2.0f) == std::sqrt(2.0f));
  REQUIRE(rsqrtf(4.0f) == 0.5f);
  REQUIRE(rsqrt(0.25) == 2.0);
  REQUIRE(__dmul_rn(1.0 / 3, 3.0) - 1.0 == 0.0);
  REQUIRE(__fma_rn(1.0 / 3, 3.0, -1.0) != 0.0);
  REQUIRE(__saturatef(-1.0f) == 0.0f);
  REQUIRE(__saturatef(0.25f) == 0.25f);
  REQUIRE(__saturatef(7.0f) == 1.0f);
  REQUIRE(__saturatef(std::nanf("")) == 0.0f);
  REQUIRE(__expf(1.0f) == Approx(std::exp(1.0)));
  REQUIRE(__exp10f(2.0f) == Approx(100.0));
  REQUIRE(__logf(2.0f) == Approx(std::log(2.0)));
  REQUIRE(__powf(2.0f, 10.0f) == Approx(1024.0));
  REQUIRE(__sinf(0.5f) == Approx(std::sin(0.5)));
  float sine, cosine;
  __sincosf(0.5f, &sine, &cosine);
  REQUIRE(sine == __sinf(0.5f));
  REQUIRE(cosine == __cosf(0.5f));
  REQUIRE(sinpi(1.0) == 0.0);
  REQUIRE(sinpi(0.5) == 1.0);
  REQUIRE(sinpi(-1.5) == 1.0);
  REQUIRE(sinpi(1.5) == -1.0);
  REQUIRE(sinpi(0.25) == Approx(std::sqrt(0.5)));
  REQUIRE(cospi(1.0) == -1.0);
  REQUIRE(cospi(0.5) == 0.0);
  REQUIRE(cospif(3.0f) == -1.0f);
  REQUIRE(norm3df(2.0f, 3.0f, 6.0f) == 7.0f);
  REQUIRE(__float_as_uint(1.0f) == 0x3f800000u);
  REQUIRE(__int_as_float(0x40000000) == 2.0f);
  REQUIRE(std::isnan(__uint_as_float(0xffffffffu)));
  REQUIRE(__longlong_as_double(__double_as_longlong(-0.1)) == -0.1);
  REQUIRE(__hiloint2double(__double2hiint(-0.1), __double2loint(-0.1)) == -0.1);
}

TEST_CASE("float to integer conversions round as their names say and saturate") {
  REQUIRE(__float2int_rn(2.5f) == 2);
  REQUIRE(__float2int_rn(3.5f) == 4);
  REQUIRE(__float2int_rz(-2.7f) == -2);
  REQUIRE(__float2int_ru(-2.7f) == -2);
  REQUIRE(__float2int_rd(-2.2f) == -3);
  REQUIRE(__float2int_rn(3e9f) == std::numeric_limits<int>::max());
  REQUIRE(__float2int_rn(-3e9f) == std::numeric_limits<int>::min());
  REQUIRE(__float2int_rn(std::nanf("")) == 0);
  REQUIRE(__float2uint_rz(-1.0f) == 0);
  REQUIRE(__float2uint_rz(5e9f) == 0xffffffffu);
  REQUIRE(__double2ll_rn(1e300) == std::numeric_limits<long long>::max());
  REQUIRE(__double2ll_rn(-0x1p63) == std::numeric_limits<long long>::min());
  REQUIRE(__double2ull_rd(0x1p63) == 1ull << 63);
  REQUIRE(__float2ull_rn(std::nanf("")) == 1ull << 63);
  REQUIRE(__int2float_rn(16777217) == 16777216.0f);
  REQUIRE(__double2float_rn(0.1) == 0.1f);
}

namespace {

__global__ void copy_through_hints(const float4* in, float4* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 v = __ldg(&in[i]);
  __stcs(&out[i], v);
  float* const scalar = reinterpret_cast<float*>(&out[i]);
  const float* const from = reinterpret_cast<const float*>(&in[i]);
  __stcg(scalar, __ldcg(from) + __ldca(from + 1));
  __stwt(scalar + 1, __ldcs(from + 1) + __ldlu(from + 2));
  __stwb(scalar + 2, __ldcv(from + 3));
}

}  // namespace

// FEATURE: memory: `__ldg`, `__ldcg`, `__stcs` and their like
// FEATURE: numbers: vector types
TEST_CASE("loads and stores with cache hints load and store") {
  for (const unsigned threads : awkward_blocks()) {
    const unsigned n = 3 * threads - (threads > 1 ? 1 : 0);
    std::vector<float> values(4 * n);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    DeviceArray<float> in(values), out(4 * n);
    copy_through_hints<<<3, threads>>>(reinterpret_cast<const float4*>(in.get()),
                                       reinterpret_cast<float4*>(out.get()), n);
    const std::vector<float> result = out.download();
    unsigned wrong = 0;
    for (std::size_t i = 0; i < values.size(); i += 4) {
      wrong +=
          result[i] != values[i] + values[i + 1] || result[i + 1] != values[i + 1] + values[i + 2];
      wrong += result[i + 2] != values[i + 3] || result[i + 3] != values[i + 3];
    }
    REQUIRE(wrong == 0);
  }
}

namespace {

// The multiprocessor that the calling thread runs on, from 0: PTX %smid, for which C++ has no name.
__device__ unsigned sm_id() {
#ifdef __CUDA_CPU__
  return cuda_cpu::sm_id();
#else
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
#endif
}

__device__ inline long long ticks_in_a_device_function() { return clock(); }

__global__ void read_clocks(long long* out) {
  const long long first = clock64();
  const clock_t c = clock();
  const std::uint64_t global = global_timer_ns();
  while (global_timer_ns() - global < 2'000'000) __nanosleep(1000);
  out[0] = clock64() - first;
  out[1] = static_cast<long long>(clock() - c);
  out[2] = static_cast<long long>(global_timer_ns() - global);
  out[3] = static_cast<long long>(sm_id());
  out[4] = ticks_in_a_device_function() - c;
}

}  // namespace

// FEATURE: kernels: `clock`, `clock64`, `__nanosleep`
TEST_CASE("device clocks run forwards and at one rate") {
  DeviceArray<long long> out(5);
  read_clocks<<<1, 1>>>(out.get());
  const std::vector<long long> ticks = out.download();
  // Two milliseconds or more: nanoseconds on the CPU backend, at least as many cycles on a GPU.
  for (const int i : {0, 1, 2, 4}) {
    CAPTURE(i);
    REQUIRE(ticks[static_cast<std::size_t>(i)] >= 2'000'000);
    REQUIRE(ticks[static_cast<std::size_t>(i)] < 20'000'000'000);
  }
  int multiprocessors = 0;
  REQUIRE(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0) ==
          cudaSuccess);
  REQUIRE(ticks[3] >= 0);
  REQUIRE(ticks[3] < multiprocessors);
  // On the host the name is the C library's and tells processor time, of which a sleeping program
  // uses none.
  REQUIRE(clock() / CLOCKS_PER_SEC < 3600);
}

namespace {

struct Shape {
  __device__ virtual int corners() const = 0;
};
struct Triangle : Shape {
  __device__ int corners() const override { return 3; }
};
struct Square : Shape {
  __device__ int corners() const override { return 4; }
};

__global__ void count_corners(int* out) {
  const Triangle triangle;
  const Square square;
  const Shape* const shape = threadIdx.x % 2 == 0 ? static_cast<const Shape*>(&triangle) : &square;
  out[threadIdx.x] = shape->corners();
}

__device__ int twice(int x) { return 2 * x; }
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int (*const functions[])(int) = {twice, fibonacci};

__global__ void call_by_pointer(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = functions[i % 2](i);
}

struct Many {
  int x[64];
};

__global__ void read_parameter(int* out, const __grid_constant__ Many many) {
  const int* const x = many.x;
  cudaGridDependencySynchronize();
  out[threadIdx.x] = x[threadIdx.x];
  cudaTriggerProgrammaticLaunchCompletion();
}

}  // namespace

// FEATURE: kernels: virtual functions of objects made in the kernel
TEST_CASE("a kernel makes objects and calls their virtual functions") {
  DeviceArray<int> out(2);
  count_corners<<<1, 2>>>(out.get());
  CHECK(out.download() == std::vector<int>{3, 4});
}

// FEATURE: kernels: pointers to device functions, and recursion
TEST_CASE("device functions are called by pointer, and call themselves") {
  DeviceArray<int> out(12);
  call_by_pointer<<<1, 12>>>(out.get());
  CHECK(out.download()[10] == 20);
  CHECK(out.download()[11] == 89);
}

// FEATURE: kernels: `__grid_constant__` parameters
// FEATURE: kernels: programmatic dependent launch: one kernel begins when the other has ended
TEST_CASE("a parameter of the grid has an address, and a kernel may wait for the one before it") {
  DeviceArray<int> out(64);
  Many many{};
  many.x[5] = 6;
  read_parameter<<<1, 64>>>(out.get(), many);
  CHECK(out.download()[5] == 6);
}

namespace {

__global__ void use_heap(int* out) {
  int* const one = new int(static_cast<int>(threadIdx.x));
  int* const four = static_cast<int*>(malloc(4 * sizeof(int)));
  four[3] = *one + 1;
  out[threadIdx.x] = four[3];
  delete one;
  free(four);
}

__global__ void take_megabytes(int* blocks) {
  if (malloc(1 << 20) != nullptr) atomicAdd(blocks, 1);
}

}  // namespace

// FEATURE: kernels: `malloc`, `new` and `delete` in device code, up to `cudaLimitMallocHeapSize`
TEST_CASE("device code allocates and frees, and gets no more than the heap's limit") {
  DeviceArray<int> out(32);
  use_heap<<<1, 32>>>(out.get());
  CHECK(out.download()[8] == 9);
  DeviceArray<int> blocks(std::vector<int>{0});
  REQUIRE(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 8 << 20) == cudaSuccess);
  take_megabytes<<<1, 32>>>(blocks.get());
  CHECK(blocks.download()[0] > 0);
  CHECK(blocks.download()[0] < 32);
}
