// SPDX-License-Identifier: MIT
// What a tensor core computes: sums of products, each exact, that are added as integers.
//
// All addends of a block, its products and the number that they are added to, are aligned to the
// largest exponent among them; what lies below the last of a few extra bits is cut off, and so is
// what the sum has too many bits for a float. So the order of the addends does not matter, and no
// addition rounds to the nearest.
#pragma once

#include <cstdint>
#include <cstring>

namespace cuda_cpu {

/// How a Hopper adds: all results of an H200 that chapters/16_tensor_cores/results holds are
/// computed here bit for bit. Two models that were compared with H100s agree with it: Khattak and
/// Mikaitis, Accurate Models of NVIDIA Tensor Cores (arXiv:2512.07004; the limit of exponents is
/// theirs), and Xie and others, MMA-Sim (arXiv:2511.10909). The 5,000 results of an H100 in each of
/// BF16, FP16, TF32 and E4M3 that the former publish are computed here bit for bit.
struct TensorRounding {
  int fraction_bits = 25;     // of the largest addend, so two more than a float has
  int kept_bits = 23;         // of the sum's fraction
  int least_exponent = -133;  // that addends are aligned to
};
constexpr TensorRounding kTensorRounding;
/// wgmma of numbers of 8 bits. (For mma.sync of these Hopper has no instruction: nvcc makes
/// halves.)
constexpr TensorRounding kRoundingOf8Bits{13, 13, -133};

/// kE4m3InHalves: multiplied as halves, of which none is subnormal.
enum class TensorFormat { kBfloat16, kHalf, kTf32, kE4m3, kE4m3InHalves };

/// A matrix of factors, taken apart.
class Factors {
 public:
  Factors(float* of_values, float* of_exponents) : values(of_values), exponents(of_exponents) {}

  float* values;
  /// As floats, which are compared faster. That of a product is the sum of both, even where the
  /// product of the two fractions is 2 or more.
  float* exponents;

  void put(unsigned at, TensorFormat format, std::uint32_t bits) const {
    const auto field = static_cast<int>(bits >> 7 & 255);
    if (format != TensorFormat::kBfloat16 || field == 0 || field == 255) {
      return put_any(at, format, bits);
    }
    const std::uint32_t bits_of_value = bits << 16;
    std::memcpy(&values[at], &bits_of_value, sizeof(bits_of_value));
    exponents[at] = static_cast<float>(field - 127);
  }

 private:
  void put_any(unsigned at, TensorFormat format, std::uint32_t bits) const;
};

/// d += a b, as one block of k addends and d: d has `m` rows of `n` elements, a multiple of 4;
/// a has `m` rows of `k`, b has `k` of `n`. k is even, and 32 at most.
void add_products(float* d, const Factors& a, const Factors& b, unsigned m, unsigned n, unsigned k,
                  const TensorRounding& rounding = kTensorRounding);

}  // namespace cuda_cpu
