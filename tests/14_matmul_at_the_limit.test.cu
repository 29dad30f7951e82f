// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/14_matmul_at_the_limit/matmul_at_the_limit.cu"
#undef main

#include <random>

#include "matmul_testing.cuh"

#define main experiment_main
namespace multiply_adds_alone {
#include "../chapters/14_matmul_at_the_limit/experiments/multiply_adds_alone.cu"
}
#undef main

// The versions of the chapter and cuBLAS. The chapter's last version comes last: it is tried at a
// large shape.
template <class Check>
void for_every_version(const Operands& operands, Check check) {
  const auto product = operands.product<BoundedProduct>();
  check(kCublas<BoundedProduct>, product);
  for (const auto& version : kVersions) check(version, product);
}

TEST_CASE("the error over its bound is below one for a right product, and above for a wrong one") {
  const BoundedProduct product(33, 34, 35, kSeed);
  REQUIRE(runs_right(kVersions[0], product));
  CHECK(product.error_of_bound() < 1);
  const float wrong = product.download()[500] + 0.01f;
  CUDA_CHECK(cudaMemcpy(product.c.data + 500, &wrong, sizeof wrong, cudaMemcpyHostToDevice));
  CHECK(product.error_of_bound() > 1);
}

TEST_CASE("every version multiplies shapes that nobody chose") {
  std::mt19937 random(14);
  const unsigned most = small_sizes() ? 70 : 96;
  const auto side = [&] { return 1 + static_cast<unsigned>(random() % most); };
  for (unsigned i = 0; i < (small_sizes() ? 4 : 20); ++i) {
    const unsigned m = side(), n = side(), k = side();
    // Rows at multiples of 16 bytes, so that tiles inside are copied wide, and rows that are not.
    check_every_version(Operands({m, n, k}, i % 2 == 0 ? 0 : 4 - n % 4, kSeed + i));
  }
}

TEST_CASE("tiles that lie inside, beside such that do not, are copied 16 bytes at a time") {
  // All sides are multiples of 4, the first two not of a tile. Such tiles have whole steps only, or
  // they have not, or rows that are not aligned.
  const unsigned whole = small_sizes() ? 64 : 96;
  const std::pair<unsigned, unsigned> depths_and_gaps[] = {{20, 0}, {whole, 0}, {whole, 1}};
  for (const auto& [k, gap] : depths_and_gaps)
    check_every_version(Operands(small_sizes() ? Sides{132, 260, k} : Sides{260, 516, k}, gap));
}

TEST_CASE("an infinity in B spoils its own column and no other") {
  const Sides s{5, 9, 20};  // the last step reaches past the end of k
  std::vector<float> b = random_floats(std::size_t{s.k} * s.n, -1, 1, 8);
  b[0] = std::numeric_limits<float>::infinity();
  const Operands operands(s, random_floats(std::size_t{s.m} * s.k, -1, 1, 7), b);
  for_every_version(operands, [&](const auto& version, const auto& product) {
    product.poison();
    version.launch(product);
    const std::vector<float> c = product.download();
    INFO(version.name);
    for (std::size_t i = 0; i < c.size(); ++i) CHECK(std::isfinite(c[i]) == (i % s.n != 0));
  });
}

namespace {

/// `x` with `bits` bits behind the leading one, rounded to nearest: 10 are TF32, 7 BF16.
float with_bits(float x, int bits) {
  int exponent = 0;
  const double scaled = std::ldexp(std::frexp(x, &exponent), bits + 1);
  return static_cast<float>(std::ldexp(std::nearbyint(scaled), exponent - bits - 1));
}

/// The largest error of 8 x 96 dot products over its bound. `multiply` gets a row of A and a
/// column of B.
template <class Multiply>
double worst_of_bound(std::size_t k, Multiply multiply) {
  constexpr std::size_t kRows = 8, kColumns = 96;
  const std::vector<float> a = random_floats(kRows * k, -1, 1, 3);
  const std::vector<float> columns = random_floats(kColumns * k, -1, 1, 4);
  std::vector<float> b(k * kColumns);
  for (std::size_t i = 0; i < b.size(); ++i) b[i % k * kColumns + i / k] = columns[i];
  const std::vector<double> bounds = product_bounds(a, b, kRows, kColumns, k);
  double worst = 0;
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      const float *x = &a[row * k], *y = &columns[column * k];
      double exact = 0;
      for (std::size_t i = 0; i < k; ++i) exact += static_cast<double>(x[i]) * y[i];
      const double error = std::abs(multiply(x, y, k) - exact);
      worst = std::max(worst, error / bounds[row * kColumns + column]);
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("the bound lets FP32 pass in any order, and neither TF32 nor BF16") {
  const std::size_t k = 4096;
  const auto rounded_to = [](int bits) {
    return [bits](const float* x, const float* y, std::size_t count) {
      double sum = 0;
      for (std::size_t i = 0; i < count; ++i)
        sum += static_cast<double>(with_bits(x[i], bits)) * with_bits(y[i], bits);
      return sum;
    };
  };
  CHECK(worst_of_bound(k, rounded_to(23)) < 1e-6);
  CHECK(worst_of_bound(k, rounded_to(10)) > 1);
  CHECK(worst_of_bound(k, rounded_to(7)) > 8);
  for (const bool backwards : {false, true}) {
    CHECK(worst_of_bound(k, [&](const float* x, const float* y, std::size_t count) {
            float sum = 0;
            for (std::size_t i = 0; i < count; ++i) {
              const std::size_t at = backwards ? count - 1 - i : i;
              sum += x[at] * y[at];
            }
            return static_cast<double>(sum);
          }) < 0.25);
  }
}

TEST_CASE("multiply-adds alone are as many as were asked for, and each is made",
          "[multiply_adds_alone]") {
  using namespace multiply_adds_alone;
  for (const double flop : {1.0, 1e4, 2e5}) {
    const MultiplyAdds data{flop, 2};
    INFO(flop << " operations");
    CHECK(data.amount() >= flop);
    CHECK(data.amount() - flop <= 2.0 * kChains * static_cast<double>(data.results.size()));
    CHECK(runs_right(kMultiplyAdds, data));
    data.poison();
    CHECK_FALSE(data.is_right("nothing ran"));
  }
}
