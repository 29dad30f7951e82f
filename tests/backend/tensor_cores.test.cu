// SPDX-License-Identifier: MIT
// The instructions of tensor cores on the CPU backend: what they compute, who holds which element,
// and how tiles lie in shared memory.
#include <tensor_instructions.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "../kernel_testing.cuh"

namespace {

// ---- the model, once more: a reference that is written differently ------------------------------

/// Products and the addend are cut off at 25 bits behind the largest exponent, and their sum is
/// rounded towards zero to a float. Factors have exponents of at least `least`.
float rounded_sum(float c, const std::vector<float>& a, const std::vector<float>& b, int least) {
  const auto exponent = [](float x, int lowest) { return std::max(std::ilogb(x), lowest); };
  std::vector<double> addends;
  int largest = -133;
  if (c != 0) {
    addends.push_back(static_cast<double>(c));
    largest = std::max(largest, exponent(c, -126));
  }
  for (std::size_t l = 0; l < a.size(); ++l) {
    if (a[l] == 0 || b[l] == 0) continue;
    addends.push_back(static_cast<double>(a[l]) * static_cast<double>(b[l]));
    largest = std::max(largest, exponent(a[l], least) + exponent(b[l], least));
  }
  double sum = 0;
  const double unit = std::ldexp(1.0, largest - 25);
  for (const double x : addends) sum += x - std::fmod(x, unit);
  float result = static_cast<float>(sum);
  if (std::abs(sum) < std::ldexp(1.0, 128) && std::abs(static_cast<double>(result)) > std::abs(sum))
    result = std::nextafter(result, 0.0f);
  return result;
}

float float_of(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

// ---- one warp
// ------------------------------------------------------------------------------------

enum class Type { kBf16, kF16, kTf32, kE4m3 };

struct Shape {
  unsigned k, bits;  // of an element
};
constexpr Shape shape_of(Type type) {
  return type == Type::kTf32 ? Shape{8, 32} : type == Type::kE4m3 ? Shape{32, 8} : Shape{16, 16};
}

struct Registers {
  unsigned a[4], b[2];
  float d[4];
};

template <Type kType>
__global__ void multiply(Registers* of) {
  Registers mine = of[threadIdx.x];
  if (kType == Type::kBf16) ptx::mma_m16n8k16(mine.d, mine.a, mine.b);
  if (kType == Type::kF16) ptx::mma_m16n8k16_f16(mine.d, mine.a, mine.b);
  if (kType == Type::kTf32) ptx::mma_m16n8k8_tf32(mine.d, mine.a, mine.b);
  if (kType == Type::kE4m3) ptx::mma_m16n8k32_e4m3(mine.d, mine.a, mine.b);
  of[threadIdx.x] = mine;
}

/// Bits of an element whose value float has, too.
float value_of(Type type, unsigned bits) {
  if (type == Type::kBf16) return float_of(bits << 16);
  if (type == Type::kTf32) return float_of(bits & ~0x1fffu);
  const bool half = type == Type::kF16;
  const unsigned fraction_bits = half ? 10 : 3, field = bits >> fraction_bits & (half ? 31 : 15);
  const unsigned fraction = bits & ((1u << fraction_bits) - 1);
  const int bias = half ? 15 : 7;
  const double size =
      field == 0 ? std::ldexp(fraction, 1 - bias - static_cast<int>(fraction_bits))
                 : std::ldexp((1u << fraction_bits) + fraction,
                              static_cast<int>(field) - bias - static_cast<int>(fraction_bits));
  return static_cast<float>((bits >> (half ? 15 : 7) & 1) != 0 ? -size : size);
}

/// Matrices of bits, put into registers as the figures of the PTX ISA have it, element by element.
template <Type kType>
std::vector<float> product(const std::vector<unsigned>& a, const std::vector<unsigned>& b,
                           const std::vector<float>& c) {
  constexpr Shape kShape = shape_of(kType);
  constexpr unsigned kInOne = 32 / kShape.bits;
  std::vector<Registers> lanes(32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned group = lane >> 2, in_group = lane & 3;
    Registers& mine = lanes[lane];
    mine = {};
    for (unsigned i = 0; i < 4 * kInOne; ++i) {
      const unsigned reg = i / kInOne;
      const unsigned row = reg % 2 == 0 ? group : group + 8;
      const unsigned k = in_group * kInOne + i % kInOne + (reg >= 2 ? kShape.k / 2 : 0);
      mine.a[reg] |= a[row * kShape.k + k] << i % kInOne * kShape.bits % 32;
    }
    for (unsigned i = 0; i < 2 * kInOne; ++i) {
      const unsigned k = in_group * kInOne + i % kInOne + (i >= kInOne ? kShape.k / 2 : 0);
      mine.b[i / kInOne] |= b[k * 8 + group] << i % kInOne * kShape.bits % 32;
    }
    for (unsigned i = 0; i < 4; ++i) {
      mine.d[i] = c[(i < 2 ? group : group + 8) * 8 + in_group * 2 + (i & 1)];
    }
  }
  const DeviceArray<Registers> d_lanes(lanes);
  multiply<kType><<<1, 32>>>(d_lanes.get());
  CUDA_CHECK_LAUNCH();
  lanes = d_lanes.download();
  std::vector<float> d(16 * 8);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      d[((lane >> 2) + (i < 2 ? 0 : 8)) * 8 + (lane & 3) * 2 + (i & 1)] = lanes[lane].d[i];
    }
  }
  return d;
}

unsigned random_bits(Type type, std::mt19937* random, unsigned spread) {
  const auto exponent = [&](unsigned middle) {
    return middle - spread + static_cast<unsigned>((*random)() % (2 * spread + 1));
  };
  const auto bits = static_cast<unsigned>((*random)());
  if (bits >> 28 == 0) return 0;
  if (type == Type::kBf16) return (bits & 0x807f) | exponent(127) << 7;
  if (type == Type::kF16) return bits & 0xbfff;
  if (type == Type::kTf32) return (bits & 0x807fffff) | exponent(127) << 23;
  return bits & 0xbf;  // of the larger ones half are left out: no NaN
}

template <Type kType>
void check_products(unsigned spread) {
  constexpr unsigned k = shape_of(kType).k;
  std::mt19937 random(spread);
  std::vector<unsigned> a(16 * k), b(k * 8);
  std::vector<float> c(16 * 8);
  for (int round = 0; round < 8; ++round) {
    for (unsigned& x : a) x = random_bits(kType, &random, spread);
    for (unsigned& x : b) x = random_bits(kType, &random, spread);
    for (float& x : c) x = float_of(random_bits(Type::kTf32, &random, spread));
    const std::vector<float> d = product<kType>(a, b, c);
    for (unsigned i = 0; i < 16; ++i) {
      for (unsigned j = 0; j < 8; ++j) {
        float expected = c[i * 8 + j];
        for (unsigned first = 0; first < k; first += 16) {
          std::vector<float> left, right;
          for (unsigned l = first; l < std::min(first + 16, k); ++l) {
            left.push_back(value_of(kType, a[i * k + l]));
            right.push_back(value_of(kType, b[l * 8 + j]));
          }
          expected = rounded_sum(expected, left, right, kType == Type::kF16 ? -14 : -126);
        }
        INFO("row " << i << ", column " << j << ", spread " << spread);
        REQUIRE(bits_of(d[i * 8 + j]) == bits_of(expected));
      }
    }
  }
}

template <Type kType>
void check_layout(unsigned one) {
  constexpr unsigned k = shape_of(kType).k;
  const std::vector<float> zeros(16 * 8, 0.0f);
  std::vector<unsigned> a(16 * k, 0), b(k * 8, 0);
  // With an identity for one of the two the product shows the other.
  for (unsigned i = 0; i < std::min(16u, k); ++i) a[i * k + i] = one;
  for (unsigned i = 0; i < k * 8; ++i) b[i] = i % 2 == 0 ? one : 0;
  std::vector<float> d = product<kType>(a, b, zeros);
  for (unsigned i = 0; i < std::min(16u, k); ++i) {
    for (unsigned j = 0; j < 8; ++j) REQUIRE(d[i * 8 + j] == (j % 2 == 0 ? 1.0f : 0.0f));
  }
  for (unsigned first = 0; first < k; first += 8) {
    for (unsigned l = 0; l < k; ++l) {
      for (unsigned j = 0; j < 8; ++j) b[l * 8 + j] = l == first + j ? one : 0;
    }
    for (unsigned i = 0; i < 16 * k; ++i) a[i] = i * i % 3 == 1 ? one : 0;
    d = product<kType>(a, b, zeros);
    for (unsigned i = 0; i < 16; ++i) {
      for (unsigned j = 0; j < 8; ++j) {
        const unsigned at = i * k + first + j;
        REQUIRE(d[i * 8 + j] == (at * at % 3 == 1 ? 1.0f : 0.0f));
      }
    }
  }
}

template <bool kTransposed>
__global__ void load_rows(const std::uint16_t* from, unsigned* to) {
  __shared__ alignas(16) std::uint16_t tile[4][8][8];
  for (unsigned i = threadIdx.x; i < 256; i += 32) tile[i / 64][i / 8 % 8][i % 8] = from[i];
  __syncwarp();
  unsigned r[4];
  const void* const row = tile[threadIdx.x / 8][threadIdx.x % 8];
  if (kTransposed) {
    ptx::load_matrices_transposed(r, row);
  } else {
    ptx::load_matrices(r, row);
  }
  for (unsigned i = 0; i < 4; ++i) to[threadIdx.x * 4 + i] = r[i];
}

}  // namespace

// FEATURE: numbers: `mma.sync`, `ldmatrix` and `cvt.rna.tf32`, as functions of chapter 16's
// instructions.cuh
TEST_CASE("mma.sync cuts off and rounds as the model of Hopper's tensor cores") {
  for (const unsigned spread : {1u, 4u, 12u, 40u, 120u}) {
    check_products<Type::kBf16>(spread);
    check_products<Type::kTf32>(spread);
  }
  for (const unsigned spread : {2u, 20u}) {
    check_products<Type::kF16>(spread);
    check_products<Type::kE4m3>(spread);
  }
}

TEST_CASE("the fragments of mma.sync lie as the PTX ISA draws them") {
  check_layout<Type::kBf16>(0x3f80);
  check_layout<Type::kF16>(0x3c00);
  check_layout<Type::kTf32>(0x3f800000);
  check_layout<Type::kE4m3>(0x38);
}

TEST_CASE("infinities and NaNs come through mma.sync, and a sum that is too large is infinite") {
  std::vector<unsigned> a(256, 0), b(128, 0);
  std::vector<float> c(128, 1.0f);
  a[0] = 0x7f80, b[0] = 0x3f80, b[1] = 0xbf80, b[2] = 0;  // infinity times 1, -1 and 0
  a[1 * 16] = 0x7f7f, b[3] = 0x4000;                      // the largest times 2
  const std::vector<float> d = product<Type::kBf16>(a, b, c);
  CHECK(d[0] == INFINITY);
  CHECK(d[1] == -INFINITY);
  CHECK(bits_of(d[2]) == 0x7fffffff);
  CHECK(d[8 + 3] == INFINITY);
  CHECK(d[16] == 1.0f);
}

TEST_CASE("ldmatrix gives each lane its part of four matrices, and transposed of their columns") {
  std::vector<std::uint16_t> x(256);
  for (unsigned i = 0; i < 256; ++i) x[i] = static_cast<std::uint16_t>(i * 257 + 1);
  const DeviceArray<std::uint16_t> d_x(x);
  const DeviceArray<unsigned> d_y(128);
  for (const bool transposed : {false, true}) {
    if (transposed) {
      load_rows<true><<<1, 32>>>(d_x.get(), d_y.get());
    } else {
      load_rows<false><<<1, 32>>>(d_x.get(), d_y.get());
    }
    CUDA_CHECK_LAUNCH();
    const std::vector<unsigned> y = d_y.download();
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned j = 0; j < 4; ++j) {
        const unsigned one = lane >> 2, two = (lane & 3) * 2;
        const unsigned low = transposed ? two * 8 + one : one * 8 + two;
        const unsigned high = transposed ? low + 8 : low + 1;
        REQUIRE(y[lane * 4 + j] == (x[j * 64 + low] | unsigned{x[j * 64 + high]} << 16));
      }
    }
  }
}

TEST_CASE("to_tf32 rounds to the nearest, ties away from zero") {
  CHECK(bits_of(ptx::to_tf32(float_of(0x3f801000))) == 0x3f802000);
  CHECK(bits_of(ptx::to_tf32(float_of(0xbf800fff))) == 0xbf800000);
}
