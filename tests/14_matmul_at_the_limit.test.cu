// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/14_matmul_at_the_limit/matmul_at_the_limit.cu"
#undef main

#include "matmul_testing.cuh"

#define main experiment_main
namespace arrangements {
#include "../chapters/14_matmul_at_the_limit/experiments/arrangements.cu"
}
namespace multiply_adds_alone {
#include "../chapters/14_matmul_at_the_limit/experiments/multiply_adds_alone.cu"
}
#undef main

// The chapter's last version comes last: it is tried at a large shape.
template <class Check>
void for_every_version(const Operands& operands, Check check) {
  const MatrixProduct product = operands.product();
  const std::size_t versions = std::size(kVersions);
  check(kVersions[versions - 1], product);  // cuBLAS
  for (std::size_t i = 0; i + 1 < versions; ++i) check(kVersions[i], product);
}

namespace {

// Some steps of whole tiles of each size: one step, two, more than there are slices.
std::vector<Sides> whole_shapes() {
  if (small_sizes()) return {{128, 256, 16}, {128, 256, 64}};
  return {{128, 256, 16}, {128, 256, 32}, {256, 512, 48}, {384, 256, 80}};
}

// Dense values in memory of their own: `gap` NaNs behind each row, `offset` before the first.
struct Placed {
  Placed(const std::vector<float>& dense, unsigned height, unsigned width, unsigned gap,
         unsigned offset)
      : values(offset + std::size_t{height} * (width + gap)),
        view{values + offset, height, width, width + gap} {
    const std::vector<float> wide = with_gaps(dense, width, gap);
    CUDA_CHECK(
        cudaMemcpy(view.data, wide.data(), wide.size() * sizeof(float), cudaMemcpyHostToDevice));
  }

  DeviceArray<float> values;
  Matrix view;
};

}  // namespace

TEST_CASE("every version multiplies matrices of whole tiles, with rows that are aligned or not") {
  for (const Sides s : whole_shapes()) {
    for (const unsigned gap : {0u, 4u, 1u}) check_every_version(Operands(s, gap));
  }
}

TEST_CASE("where one side is no whole number of tiles, or of steps, every version is right") {
  for (const Sides s : {Sides{128, 128, 16}, Sides{128, 384, 32}, Sides{132, 256, 32},
                        Sides{128, 260, 32}, Sides{128, 256, 36}, Sides{128, 256, 8}})
    check_every_version(Operands(s, 4));
}

TEST_CASE("rows of one matrix that do not begin at multiples of 16 bytes are multiplied too") {
  const Sides s{128, 256, 32};
  const Operands operands(s);
  MatrixProduct product = operands.product();
  for (const unsigned offset : {0u, 1u}) {
    const unsigned gap = offset == 0 ? 3 : 4;
    for (const int which : {0, 1, 2}) {
      const Placed a(operands.host_a, s.m, s.k, which == 0 ? gap : 0, which == 0 ? offset : 0);
      const Placed b(operands.host_b, s.k, s.n, which == 1 ? gap : 0, which == 1 ? offset : 0);
      const Placed c(std::vector<float>(std::size_t{s.m} * s.n), s.m, s.n, which == 2 ? gap : 0,
                     which == 2 ? offset : 0);
      product.a = a.view, product.b = b.view, product.c = c.view;
      for (const auto& version : kVersions) {
        INFO(version.name << ", matrix " << which << ", gap " << gap << ", offset " << offset);
        CHECK(runs_right(version, product));
        CHECK(gaps_are_untouched(product.c));
      }
    }
  }
}

TEST_CASE("multiplying whole tiles by the identity gives every element back exactly") {
  if (!small_sizes()) check_identity({256, 256, 256}, true);
  check_identity({128, 256, 256}, false);
}

TEST_CASE("launches of whole tiles one after the other give the same result") {
  check_launches_in_a_row({128, 256, 48});
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

TEST_CASE("in every arrangement whole tiles are multiplied", "[arrangements]") {
  for (const Sides s : whole_shapes()) {
    if (s.n % arrangements::kColumns != 0) continue;
    for (const unsigned gap : {0u, 4u}) {
      const Operands operands(s, gap);
      const MatrixProduct product = operands.product();
      for (const auto& version : arrangements::kArrangements) {
        INFO(version.name << ", " << text_of(s) << ", gap " << gap);
        CHECK(runs_right(version, product));
        CHECK(gaps_are_untouched(product.c));
      }
    }
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
