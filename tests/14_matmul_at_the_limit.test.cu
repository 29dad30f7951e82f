// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/14_matmul_at_the_limit/matmul_at_the_limit.cu"
#undef main

#include <random>

namespace {

constexpr const char* kVersionForLargeShape = "serpentine";

template <class... Arguments>
Product product_of(const Arguments&... arguments) {
  return Product(arguments...);
}

}  // namespace

#include "matmul_testing.cuh"

namespace {

bool runs_shares_right(const Product& p, Shares shares) {
  constexpr unsigned kBytes = Small::kStages * Small::kSliceBytes;
  p.poison();
  multiply_even_shares<Small><<<shares.blocks, Small::kThreads, kBytes>>>(p.a, p.b, p.c, shares);
  CUDA_CHECK_LAUNCH();
  return p.is_right("even shares");
}

}  // namespace

TEST_CASE("every version multiplies shapes that nobody chose") {
  std::mt19937 random(14);
  const std::size_t most = small_sizes() ? 70 : 96;
  for (int i = 0; i < (small_sizes() ? 4 : 20); ++i) {
    const ProductShape s{1 + random() % most, 1 + random() % most, 1 + random() % most};
    // Rows at multiples of 16 bytes, so that tiles inside are copied wide, and rows that are not.
    const std::size_t gap = i % 2 == 0 ? 0 : 4 - s.n % 4;
    const Product product(s, kSeed + static_cast<std::uint64_t>(i), gap);
    for (const auto& version : kVersions) {
      INFO(version.name << ", " << s.text() << ", gap " << gap);
      CHECK(runs_right(version, product));
      CHECK(gaps_are_untouched(product));
    }
  }
}

TEST_CASE("tiles that lie inside, beside such that do not, are copied 16 bytes at a time") {
  // All sides are multiples of 4, the first two not of a tile. Such tiles have whole steps only, or
  // they have not, or rows that are not aligned.
  const std::size_t whole = small_sizes() ? 64 : 96;
  const std::pair<std::size_t, std::size_t> depths_and_gaps[] = {{20, 0}, {whole, 0}, {whole, 1}};
  for (const auto& [k, gap] : depths_and_gaps) {
    const ProductShape s = small_sizes() ? ProductShape{132, 260, k} : ProductShape{260, 516, k};
    const Product product(s, kSeed, gap);
    for (const auto& version : kVersions) {
      INFO(version.name << ", " << s.text() << ", gap " << gap);
      CHECK(runs_right(version, product));
    }
  }
}

TEST_CASE("an infinity in B spoils its own column and no other") {
  const ProductShape s{5, 9, 20};  // the last step reaches past the end of k
  std::vector<float> b = random_floats(s.k * s.n, -1, 1, 8);
  b[0] = std::numeric_limits<float>::infinity();
  const Product product(s, random_floats(s.m * s.k, -1, 1, 7), b);
  for (const auto& version : kVersions) {
    product.poison();
    version.launch(product);
    const std::vector<float> c = product.download();
    INFO(version.name);
    for (std::size_t i = 0; i < c.size(); ++i) CHECK(std::isfinite(c[i]) == (i % s.n != 0));
  }
}

TEST_CASE("shares cover every step of every tile once, whatever the number of blocks") {
  for (const unsigned blocks : {1u, 2u, 3u, 7u, 132u}) {
    for (const unsigned tiles : {1u, 2u, 5u, 132u, 133u, 300u}) {
      for (const unsigned steps : {1u, 3u, 16u}) {
        Shares s{};
        s.blocks = blocks, s.tiles = tiles, s.steps = steps;
        const unsigned rounds = tiles / blocks;
        s.dealt = tiles % blocks == 0 ? tiles : (rounds > 0 ? rounds - 1 : 0) * blocks;
        std::vector<unsigned> done(std::size_t{tiles} * steps, 0);
        for (unsigned block = 0; block < blocks; ++block) {
          for (unsigned turn = 0;; ++turn) {
            const Shares::Part part = s.part(block, turn);
            if (part.count == 0) break;
            for (unsigned i = 0; i < part.count; ++i) ++done[part.tile * steps + part.first + i];
          }
        }
        INFO(blocks << " blocks, " << tiles << " tiles of " << steps << " steps");
        CHECK(std::count(done.begin(), done.end(), 1u) == std::ptrdiff_t{tiles} * steps);
      }
    }
  }
}

TEST_CASE("a tile that many blocks share is put together, launch after launch") {
  const Product product(ProductShape{70, 40, 200}, kSeed);
  for (const unsigned blocks : {1u, 2u, 5u, 13u, 26u}) {
    Shares shares = product.shares<Small>();
    shares.blocks = std::min(blocks, blocks_of_shares<Small>());
    shares.dealt = 0;
    INFO(shares.blocks << " blocks");
    for (int repeat = 0; repeat < 3; ++repeat) CHECK(runs_shares_right(product, shares));
  }
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
  const DotProductBound bound(a, b, kRows, kColumns, k);
  double worst = 0;
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      const float *x = &a[row * k], *y = &columns[column * k];
      double exact = 0;
      for (std::size_t i = 0; i < k; ++i) exact += static_cast<double>(x[i]) * y[i];
      const double error = std::abs(multiply(x, y, k) - exact);
      worst = std::max(worst, error / bound(row * kColumns + column));
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
