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
float rounded_sum(float c, const std::vector<float>& a, const std::vector<float>& b, int least,
                  int bits = 25, int kept = 23) {
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
  const double unit = std::ldexp(1.0, largest - bits);
  for (const double x : addends) sum += x - std::fmod(x, unit);
  float result = static_cast<float>(sum);
  if (std::abs(sum) < std::ldexp(1.0, 128) && std::abs(static_cast<double>(result)) > std::abs(sum))
    result = std::nextafter(result, 0.0f);
  if (result == 0 || kept == 23) return result;
  const float last = std::ldexp(1.0f, std::ilogb(result) - kept);
  return result - std::fmod(result, last);
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
        // FP8 in two halves: of every four terms the first two, then the others; c comes last.
        const bool halves = kType == Type::kE4m3;
        float expected = halves ? 0.0f : c[i * 8 + j];
        for (const bool second : {false, true}) {
          std::vector<float> left, right;
          for (unsigned l = 0; l < k; ++l) {
            if (second != (halves && l % 4 >= 2)) continue;
            left.push_back(value_of(kType, a[i * k + l]));
            right.push_back(value_of(kType, b[l * 8 + j]));
          }
          if (!left.empty())
            expected = rounded_sum(expected, left, right, kType == Type::kF16 ? -14 : -126);
        }
        if (halves) expected += c[i * 8 + j];
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

/// Each lane stores a row from its part of four matrices.
__global__ void store_rows(const unsigned* from, std::uint16_t* to) {
  __shared__ alignas(16) std::uint16_t tile[4][8][8];
  const unsigned* const mine = from + threadIdx.x * 4;
  const unsigned r[4] = {mine[0], mine[1], mine[2], mine[3]};
  ptx::store_matrices_transposed(tile[threadIdx.x / 8][threadIdx.x % 8], r);
  __syncwarp();
  for (unsigned i = threadIdx.x; i < 256; i += 32) to[i] = tile[i / 64][i / 8 % 8][i % 8];
}

// ---- bulk copies and warp groups
// -----------------------------------------------------------------

constexpr unsigned kGroup = 128;

/// Where element (row, column) of a tile with rows of 64 elements lies: of each eight rows, row r
/// has its piece p of 16 bytes at place p ^ r.
__device__ unsigned swizzled_place(unsigned row, unsigned column) {
  return row * 64 + (column / 8 ^ row % 8) * 8 + column % 8;
}

/// C = A B by one warp group: A is 64 x 64, with kDownRows its transpose; B is 64 x kN, or with
/// kAlongRows kN x 64, its transpose. The tiles are stored by the threads.
template <int kN, ptx::Layout kOfA, ptx::Layout kOfB>
__global__ void multiply_by_group(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  extern __shared__ alignas(1024) __nv_bfloat16 tiles[];
  __nv_bfloat16 *of_a = tiles, *of_b = tiles + 64 * 64;
  for (unsigned i = threadIdx.x; i < 64 * 64; i += kGroup) {
    of_a[swizzled_place(i / 64, i % 64)] = a[i];
  }
  for (unsigned i = threadIdx.x; i < 64 * kN; i += kGroup) {
    const unsigned row = i / (kOfB == ptx::Layout::kDownRows ? kN : 64);
    const unsigned column = i % (kOfB == ptx::Layout::kDownRows ? kN : 64);
    // Panels of 64 columns, each of 64 rows.
    of_b[column / 64 * 64 * 64 + swizzled_place(row, column % 64)] = b[i];
  }
  ptx::fence_async();
  __syncthreads();
  float d[kN / 2];
  for (float& x : d) x = 0.0f;
  ptx::wgmma_fence();
  for (unsigned k = 0; k < 64; k += 16) {
    const unsigned to_a = kOfA == ptx::Layout::kDownRows ? k * 64 : k;
    const unsigned to_b = kOfB == ptx::Layout::kDownRows ? k * 64 : k;
    ptx::wgmma_m64k16<kN, kOfA, kOfB>(d, ptx::describe(of_a, 0, 1024) + to_a * 2 / 16,
                                      ptx::describe(of_b + to_b, 8192, 1024), k > 0);
  }
  ptx::wgmma_commit();
  ptx::wgmma_wait<0>();
  ptx::wgmma_hold(d);
  const unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  for (unsigned j = 0; j < kN / 8; ++j) {
    for (unsigned e = 0; e < 4; ++e) {
      c[(row + e / 2 * 8) * kN + 8 * j + lane % 4 * 2 + e % 2] = d[4 * j + e];
    }
  }
}

std::vector<__nv_bfloat16> random_numbers(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<__nv_bfloat16> x(n);
  for (auto& one : x) one = static_cast<float>(static_cast<int>(random() % 512) - 256) / 64.0f;
  return x;
}

template <int kN, ptx::Layout kOfA, ptx::Layout kOfB>
void check_group() {
  const auto a = random_numbers(64 * 64, 1), b = random_numbers(64 * kN, 2);
  const DeviceArray<__nv_bfloat16> d_a(a), d_b(b);
  const DeviceArray<float> d_c(64 * kN);
  const auto kernel = multiply_by_group<kN, kOfA, kOfB>;
  // Panels of B are as large where the last one is narrower.
  constexpr int kBytes = (64 * 64 + (kN + 63) / 64 * 64 * 64) * 2;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<1, kGroup, kBytes>>>(d_a.get(), d_b.get(), d_c.get());
  CUDA_CHECK_LAUNCH();
  const std::vector<float> c = d_c.download();
  for (unsigned i = 0; i < 64; ++i) {
    for (unsigned j = 0; j < kN; ++j) {
      float expected = 0.0f;
      for (unsigned first = 0; first < 64; first += 16) {
        std::vector<float> left, right;
        for (unsigned l = first; l < first + 16; ++l) {
          left.push_back(kOfA == ptx::Layout::kDownRows ? a[l * 64 + i] : a[i * 64 + l]);
          right.push_back(kOfB == ptx::Layout::kDownRows ? b[l * kN + j] : b[j * 64 + l]);
        }
        expected = rounded_sum(expected, left, right, -126);
      }
      INFO("row " << i << ", column " << j << ", N = " << kN);
      REQUIRE(bits_of(c[i * kN + j]) == bits_of(expected));
    }
  }
}

/// C = A B of 64 x 128 elements by one warp group: rows of 128 bytes hold the factors along k.
template <ptx::Format kFormat>
__global__ void multiply_formats(const uint4* a, const uint4* b, float* c) {
  __shared__ alignas(1024) uint4 of_a[64][8], of_b[128][8];
  for (unsigned i = threadIdx.x; i < 64 * 8; i += kGroup) {
    of_a[i / 8][i % 8 ^ i / 8 % 8] = a[i];
    of_b[i / 8][i % 8 ^ i / 8 % 8] = b[i];
    of_b[64 + i / 8][i % 8 ^ i / 8 % 8] = b[64 * 8 + i];
  }
  ptx::fence_async();
  __syncthreads();
  float d[64];
  ptx::wgmma_fence();
  for (unsigned i = 0; i < 4; ++i) {
    ptx::wgmma_m64n128<kFormat>(d, ptx::describe(&of_a[0][2 * i], 0, 1024),
                                ptx::describe(of_b, 0, 1024) + 2 * i, i > 0);
  }
  ptx::wgmma_commit();
  ptx::wgmma_wait<0>();
  const unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  for (unsigned e = 0; e < 64; ++e) {
    c[(row + e % 4 / 2 * 8) * 128 + e / 4 * 8 + lane % 4 * 2 + e % 2] = d[e];
  }
}

template <ptx::Format kFormat>
void check_formats(Type type) {
  const unsigned bytes = shape_of(type).bits / 8, k = 128 / bytes, block = k / 4;
  std::mt19937 random(7);
  const auto fill = [&](unsigned rows) {
    std::vector<unsigned char> x(rows * 128);
    for (unsigned i = 0; i < rows * k; ++i) {
      const unsigned bits = random_bits(type, &random, 8);
      std::memcpy(&x[i * bytes], &bits, bytes);
    }
    return x;
  };
  const auto a = fill(64), b = fill(128);
  const DeviceArray<unsigned char> d_a(a), d_b(b);
  const DeviceArray<float> d_c(64 * 128);
  multiply_formats<kFormat><<<1, kGroup>>>(reinterpret_cast<const uint4*>(d_a.get()),
                                           reinterpret_cast<const uint4*>(d_b.get()), d_c.get());
  CUDA_CHECK_LAUNCH();
  const std::vector<float> c = d_c.download();
  const auto at = [&](const std::vector<unsigned char>& x, unsigned row, unsigned l) {
    unsigned bits = 0;
    std::memcpy(&bits, &x[row * 128 + l * bytes], bytes);
    return value_of(type, bits);
  };
  const bool is_short = type == Type::kE4m3;
  for (unsigned i = 0; i < 64; ++i) {
    for (unsigned j = 0; j < 128; ++j) {
      float expected = 0.0f;
      for (unsigned first = 0; first < k; first += block) {
        std::vector<float> left, right;
        for (unsigned l = first; l < first + block; ++l) {
          left.push_back(at(a, i, l));
          right.push_back(at(b, j, l));
        }
        const int least = type == Type::kF16 ? -14 : is_short ? -6 : -126;
        expected =
            rounded_sum(expected, left, right, least, is_short ? 13 : 25, is_short ? 13 : 23);
      }
      INFO("row " << i << ", column " << j << ", " << bytes << " bytes");
      REQUIRE(bits_of(c[i * 128 + j]) == bits_of(expected));
    }
  }
}

/// Copies a matrix tile by tile, through shared memory, and adds 1. Blocks take turns at the rows.
__global__ void copy_and_add(const __grid_constant__ CUtensorMap from,
                             const __grid_constant__ CUtensorMap to, unsigned rows,
                             unsigned columns, bool swizzle) {
  __shared__ alignas(1024) __nv_bfloat16 tile[32 * 64];
  __shared__ std::uint64_t bar;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::mbarrier_fence_init();
  }
  __syncthreads();
  unsigned parity = 0;
  for (unsigned y = 32 * blockIdx.x; y < rows; y += 32 * gridDim.x) {
    for (unsigned x = 0; x < columns; x += 64, parity ^= 1) {
      if (threadIdx.x == 0) {
        ptx::mbarrier_expect(&bar, sizeof(tile));
        ptx::copy_tile(tile, &from, static_cast<int>(x), static_cast<int>(y), &bar);
      }
      ptx::mbarrier_wait(&bar, parity);
      for (unsigned i = threadIdx.x; i < 32 * 64; i += blockDim.x) {
        // What lies outside comes as zeros.
        const unsigned at = swizzle ? swizzled_place(i / 64, i % 64) : i;
        const bool inside = y + i / 64 < rows && x + i % 64 < columns;
        const float value = tile[at];
        tile[at] = inside ? value + 1.0f : value == 0.0f ? 7.0f : NAN;
      }
      ptx::fence_async();
      __syncthreads();
      if (threadIdx.x == 0) {
        ptx::store_tile(&to, static_cast<int>(x), static_cast<int>(y), tile);
        ptx::store_commit();
        ptx::store_wait_read<0>();
      }
      __syncthreads();
    }
  }
}

}  // namespace

// FEATURE: numbers: `mma.sync`, `ldmatrix`, `cvt.rna.tf32`, by <tensor_instructions.h>
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

// FEATURE: numbers: `stmatrix`, by <tensor_instructions.h>
TEST_CASE("stmatrix stores each lane's part of four matrices in columns") {
  std::vector<unsigned> r(128);
  for (unsigned i = 0; i < 128; ++i) r[i] = 2 * i | (2 * i + 1) << 16;
  const DeviceArray<unsigned> d_r(r);
  const DeviceArray<std::uint16_t> d_tile(256);
  store_rows<<<1, 32>>>(d_r.get(), d_tile.get());
  CUDA_CHECK_LAUNCH();
  const std::vector<std::uint16_t> tile = d_tile.download();
  for (unsigned i = 0; i < 256; ++i) {
    // A column of matrix i / 64 is with four lanes, two rows each.
    const unsigned row = i / 8 % 8, column = i % 8, lane = column * 4 + row / 2;
    INFO("element " << i);
    REQUIRE(tile[i] == (lane * 4 + i / 64) * 2 + row % 2);
  }
}

TEST_CASE("to_tf32 rounds to the nearest, ties away from zero") {
  CHECK(bits_of(ptx::to_tf32(float_of(0x3f801000))) == 0x3f802000);
  CHECK(bits_of(ptx::to_tf32(float_of(0xbf800fff))) == 0xbf800000);
}

// FEATURE: numbers: `wgmma` with a swizzle of 128 bytes, by <tensor_instructions.h>
TEST_CASE("a warp group multiplies tiles that lie along the rows and down the rows") {
  constexpr auto kAlong = ptx::Layout::kAlongRows, kDown = ptx::Layout::kDownRows;
  check_group<64, kAlong, kDown>();
  check_group<256, kAlong, kDown>();
  check_group<80, kAlong, kDown>();
  check_group<64, kAlong, kAlong>();
  check_group<192, kAlong, kAlong>();
  check_group<16, kDown, kAlong>();
  check_group<240, kDown, kAlong>();
  check_group<48, kDown, kDown>();
}

TEST_CASE("a warp group multiplies factors of each format, and keeps 13 bits of FP8's sums") {
  check_formats<ptx::Format::kBf16>(Type::kBf16);
  check_formats<ptx::Format::kF16>(Type::kF16);
  check_formats<ptx::Format::kTf32>(Type::kTf32);
  check_formats<ptx::Format::kE4m3>(Type::kE4m3);
}

// FEATURE: asynchronous copies: `mbarrier`, bulk tensor copies, by <tensor_instructions.h>
TEST_CASE("bulk copies bring zeros from outside of a matrix, and store there up to 16 bytes") {
  for (const bool swizzle : {false, true}) {
    constexpr unsigned rows = 109, columns = 100, leading = 112;
    const auto kind = swizzle ? ptx::Swizzle::k128Bytes : ptx::Swizzle::kNone;
    const auto x = random_numbers(rows * leading, 3);
    const DeviceArray<__nv_bfloat16> d_x(x), d_y(rows * leading);
    CUDA_CHECK(cudaMemset(d_y.get(), 0, rows * leading * sizeof(__nv_bfloat16)));
    const CUtensorMap from = ptx::tile_map(d_x.get(), rows, columns, leading, 32, 64, kind);
    const CUtensorMap to = ptx::tile_map(d_y.get(), rows, columns, leading, 32, 64, kind);
    copy_and_add<<<2, 64>>>(from, to, rows, columns, swizzle);
    CUDA_CHECK_LAUNCH();
    const auto y = d_y.download();
    for (unsigned i = 0; i < rows * leading; ++i) {
      INFO("element " << i);
      const unsigned column = i % leading;
      const __nv_bfloat16 more = static_cast<float>(x[i]) + 1.0f;
      REQUIRE(static_cast<float>(y[i]) == (column < columns ? static_cast<float>(more)
                                           : column < 104   ? 7.0f
                                                            : 0.0f));
    }
  }
}
