// SPDX-License-Identifier: MIT
// Chapter 16: a product of 64 x 128 elements with k terms, of each kind of factors, by each kind of
// instruction; and numbers as those factors hold them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../../../common/common.cuh"
#include "../instructions.cuh"

/// What a kind of factors is: its name, the bits of an element in memory, those of its exponent and
/// its fraction.
struct Kind {
  const char* name;
  unsigned bits, exponent_bits, fraction_bits;
};
inline Kind kind_of(ptx::Format format) {
  switch (format) {
    case ptx::Format::kTf32:
      return {"tf32", 32, 8, 10};
    case ptx::Format::kF16:
      return {"fp16", 16, 5, 10};
    case ptx::Format::kBf16:
      return {"bf16", 16, 8, 7};
    default:
      return {"fp8", 8, 4, 3};
  }
}

/// x rounded to the nearest number that the kind has, ties to even; at most its largest.
inline double rounded_to(const Kind& kind, double x) {
  const int bias = (1 << (kind.exponent_bits - 1)) - 1;
  int exponent = 0;
  std::frexp(x, &exponent);  // x is a half or more, times 2^exponent
  const int unit = std::max(exponent - 1, 1 - bias) - static_cast<int>(kind.fraction_bits);
  // FP8 (e4m3) has no infinity: but for one NaN all of its largest exponent are numbers.
  const bool is_fp8 = kind.bits == 8;
  const double most = is_fp8 ? 448 : std::ldexp(2 - std::ldexp(1, -int(kind.fraction_bits)), bias);
  return std::min(most, std::max(-most, std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit)));
}

/// The bits of a number that the kind has.
inline std::uint32_t bits_as(const Kind& kind, double x) {
  if (kind.bits == 32) {
    const auto value = static_cast<float>(x);
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  const int bias = (1 << (kind.exponent_bits - 1)) - 1;
  const std::uint32_t sign = std::signbit(x) ? 1u << (kind.bits - 1) : 0;
  int exponent = 0;
  std::frexp(x, &exponent);
  const int field = x == 0 ? 0 : std::max(exponent - 1 + bias, 0);
  const int unit = std::max(field, 1) - bias - static_cast<int>(kind.fraction_bits);
  const auto whole = static_cast<std::uint32_t>(std::ldexp(std::abs(x), -unit));
  // The leading bit of a number that is not subnormal adds the one that its exponent lacks.
  return sign + whole +
         (field > 0 ? static_cast<std::uint32_t>(field - 1) << kind.fraction_bits : 0);
}

/// Rows of a matrix as the instructions want them: k along a row, in 32-bit words.
inline std::vector<std::uint32_t> words_of(const Kind& kind, const std::vector<double>& values) {
  const unsigned in_one = 32 / kind.bits;
  std::vector<std::uint32_t> words(values.size() / in_one, 0);
  for (std::size_t i = 0; i < values.size(); ++i)
    words[i / in_one] |= bits_as(kind, values[i]) << (i % in_one * kind.bits);
  return words;
}

constexpr unsigned kRowsOfD = 64, kColumnsOfD = 128;
constexpr unsigned kWordsOfStep = 8;  // of a row: 32 bytes, the k of one instruction
constexpr unsigned kWordsOfBox = 32;  // of a row that lies in shared memory, swizzled

/// D += A B by mma: warp (x, y) of the grid has 16 rows and 8 columns. `words`: of a row of A, and
/// of a column of B.
template <ptx::Format kFormat>
__global__ void multiply_by_warps(float* d, const std::uint32_t* a, const std::uint32_t* b,
                                  unsigned words) {
  const unsigned lane = threadIdx.x, row = blockIdx.y * 16 + lane / 4;
  const unsigned column = blockIdx.x * 8 + lane / 4, first_column = blockIdx.x * 8 + lane % 4 * 2;
  float sum[4];
  for (unsigned e = 0; e < 4; ++e)
    sum[e] = d[(row + e / 2 * 8) * kColumnsOfD + first_column + e % 2];
  for (unsigned step = 0; step < words; step += kWordsOfStep) {
    const unsigned at = step + lane % 4;
    const unsigned of_a[4] = {a[row * words + at], a[(row + 8) * words + at],
                              a[row * words + at + 4], a[(row + 8) * words + at + 4]};
    const unsigned of_b[2] = {b[column * words + at], b[column * words + at + 4]};
    if constexpr (kFormat == ptx::Format::kTf32) ptx::mma_m16n8k8_tf32(sum, of_a, of_b);
    if constexpr (kFormat == ptx::Format::kF16) ptx::mma_m16n8k16_f16(sum, of_a, of_b);
    if constexpr (kFormat == ptx::Format::kBf16) ptx::mma_m16n8k16(sum, of_a, of_b);
    if constexpr (kFormat == ptx::Format::kE4m3) ptx::mma_m16n8k32_e4m3(sum, of_a, of_b);
  }
  for (unsigned e = 0; e < 4; ++e)
    d[(row + e / 2 * 8) * kColumnsOfD + first_column + e % 2] = sum[e];
}

/// Rows of 128 bytes of a matrix, to shared memory as wgmma reads them: piece p of row r lies at
/// place p ^ r % 8. By all threads of the block. Words past the row's end come as zeros.
__device__ inline void bring_rows(std::uint32_t* box, const std::uint32_t* from, unsigned rows,
                                  unsigned words, unsigned first) {
  for (unsigned i = threadIdx.x; i < rows * kWordsOfBox; i += blockDim.x) {
    const unsigned row = i / kWordsOfBox, word = i % kWordsOfBox;
    const unsigned place = (word / 4 ^ row % 8) * 4 + word % 4;
    box[row * kWordsOfBox + place] = first + word < words ? from[row * words + first + word] : 0;
  }
}

/// Where in D a thread of a group has its sum number e.
__device__ inline unsigned place_in_d(unsigned e) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const unsigned row = warp * 16 + lane / 4 + e % 4 / 2 * 8;
  return row * kColumnsOfD + e / 4 * 8 + lane % 4 * 2 + e % 2;
}

/// D += A B by wgmma: one block, a group of warps.
template <ptx::Format kFormat>
__global__ void __launch_bounds__(128)
    multiply_by_group(float* d, const std::uint32_t* a, const std::uint32_t* b, unsigned words) {
  __shared__ alignas(1024) std::uint32_t box_a[kRowsOfD * kWordsOfBox];
  __shared__ alignas(1024) std::uint32_t box_b[kColumnsOfD * kWordsOfBox];
  float sums[64];
#pragma unroll
  for (unsigned e = 0; e < 64; ++e) sums[e] = d[place_in_d(e)];
  for (unsigned first = 0; first < words; first += kWordsOfBox) {
    bring_rows(box_a, a, kRowsOfD, words, first);
    bring_rows(box_b, b, kColumnsOfD, words, first);
    ptx::fence_async();  // wgmma sees what this thread has stored
    __syncthreads();     // and what all have
    const unsigned steps = min(words - first, kWordsOfBox) / kWordsOfStep;
    for (unsigned step = 0; step < steps; ++step) {
      ptx::wgmma_hold(sums);  // they are loaded before the fence
      ptx::wgmma_fence();
      ptx::wgmma_m64n128<kFormat>(sums, ptx::describe(box_a + step * kWordsOfStep, 16, 1024),
                                  ptx::describe(box_b + step * kWordsOfStep, 16, 1024), true);
      ptx::wgmma_commit();
      ptx::wgmma_wait<0>();
      ptx::wgmma_hold(sums);
    }
    __syncthreads();  // all have read before anyone brings the next rows over these
  }
#pragma unroll
  for (unsigned e = 0; e < 64; ++e) d[place_in_d(e)] = sums[e];
}

/// D = C + A B of 64 x 128 elements. `a`: 64 rows, `b`: 128 columns, each of k elements that the
/// kind has, k a multiple of what 32 bytes hold.
template <ptx::Format kFormat>
std::vector<float> one_product(const std::vector<float>& c, const std::vector<double>& a,
                               const std::vector<double>& b, bool by_group) {
  const Kind kind = kind_of(kFormat);
  const DeviceArray<std::uint32_t> words_a(words_of(kind, a)), words_b(words_of(kind, b));
  const DeviceArray<float> d(c);
  const auto words = static_cast<unsigned>(words_a.size() / kRowsOfD);
  if (by_group) {
    multiply_by_group<kFormat><<<1, 128>>>(d, words_a, words_b, words);
  } else {
    multiply_by_warps<kFormat>
        <<<dim3(kColumnsOfD / 8, kRowsOfD / 16), 32>>>(d, words_a, words_b, words);
  }
  CUDA_CHECK_LAUNCH();
  return d.download();
}

/// Calls f with each kind as a constant: f(std::integral_constant<ptx::Format, ...>).
template <class F>
void for_every_format(F f) {
  f(std::integral_constant<ptx::Format, ptx::Format::kTf32>());
  f(std::integral_constant<ptx::Format, ptx::Format::kF16>());
  f(std::integral_constant<ptx::Format, ptx::Format::kBf16>());
  f(std::integral_constant<ptx::Format, ptx::Format::kE4m3>());
}

/// Whether the code that the driver has picked for this device has products of warp groups.
static __global__ void ask_for_groups(bool* has) { *has = ptx::kSm90a; }
inline bool has_groups() {
  const DeviceArray<bool> has(1);
  ask_for_groups<<<1, 1>>>(has);
  CUDA_CHECK_LAUNCH();
  bool answer = false;
  CUDA_CHECK(cudaMemcpy(&answer, has, sizeof answer, cudaMemcpyDeviceToHost));
  return answer;
}
