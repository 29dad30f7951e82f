// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/14_matmul_at_the_limit/matmul_at_the_limit.cu"
#undef main

#include <array>
#include <iterator>
#include <random>
#include <set>

#include "../chapters/14_matmul_at_the_limit/work_shares.cuh"
#include "matmul_testing.cuh"

#define main experiment_main
namespace by_shape {
#include "../chapters/14_matmul_at_the_limit/experiments/by_shape.cu"
}
namespace even_shares {
#include "../chapters/14_matmul_at_the_limit/experiments/even_shares.cu"
}
namespace multiply_adds_alone {
#include "../chapters/14_matmul_at_the_limit/experiments/multiply_adds_alone.cu"
}
#undef main

// The versions of the chapter, cuBLAS, and those of the experiments that are not the same again. By
// shape large tiles are taken where there is one multiprocessor, and small ones where there are
// thousands. The chapter's last version comes last: it is tried at a large shape.
template <class Check>
void for_every_version(const Operands& operands, Check check) {
  const auto product = operands.product<BoundedProduct>();
  check(kCublas<BoundedProduct>, product);
  check(even_shares::kVersions[1], even_shares::SharedProduct{operands.product<BoundedProduct>()});
  for (const unsigned multiprocessors : {1u, 5000u})
    check(by_shape::kVersions[1],
          by_shape::ShapedProduct{operands.product<BoundedProduct>(), multiprocessors});
  for (const auto& version : kVersions) check(version, product);
}

namespace {

bool runs_shares_right(const BoundedProduct& p, Shares shares) {
  p.poison();
  multiply_even_shares<Small>
      <<<shares.blocks, Small::kThreads, EvenShares<Small>::kBytes>>>(p.a, p.b, p.c, shares);
  CUDA_CHECK_LAUNCH();
  return p.is_right("even shares");
}

}  // namespace

TEST_CASE("cuBLAS beside the shapes multiplies the same matrices, gaps included", "[by_shape]") {
  for (const Sides s : {Sides{33, 47, 20}, Sides{1, 67, 1}}) {
    const Operands operands(s, 5);
    INFO(text_of(s));
    CHECK(runs_right(by_shape::kVersions[2],
                     by_shape::ShapedProduct{operands.product<BoundedProduct>(), 1}));
  }
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
  const BoundedProduct product(70, 40, 200, kSeed);
  const EvenShares<Small> even;
  for (const unsigned blocks : {1u, 2u, 5u, 13u, 26u}) {
    Shares shares = even.of(product.a, product.c);
    shares.blocks = std::min(blocks, even.blocks);
    shares.dealt = 0;
    INFO(shares.blocks << " blocks");
    for (int repeat = 0; repeat < 3; ++repeat) CHECK(runs_shares_right(product, shares));
  }
}

TEST_CASE("work is divided into whole tiles first, and into shares of eight steps at least") {
  EvenShares<Small> even;  // tiles of 64 x 128, steps of 16
  even.blocks = 10;        // as if the device held so many
  const auto of = [&](unsigned m, unsigned n, unsigned k) {
    return even.of(Matrix{nullptr, m, k, k}, Matrix{nullptr, m, n, n});
  };
  const Shares few = of(70, 40, 200);  // 2 tiles of 13 steps: work for 3 blocks
  CHECK((few.tiles == 2 && few.steps == 13 && few.dealt == 0 && few.blocks == 3));
  const Shares least = of(1, 1, 1);
  CHECK((least.tiles == 1 && least.steps == 1 && least.blocks == 1));
  const Shares whole = of(320, 512, 64);  // 5 x 4
  CHECK((whole.down == 5 && whole.across == 4 && whole.dealt == 20 && whole.blocks == 10));
  const Shares rest = of(320, 641, 64);  // 5 x 6: three rounds
  CHECK((rest.tiles == 30 && rest.dealt == 30));
  const Shares more = of(321, 641, 64);  // 6 x 6: of three and a half rounds two are dealt out
  CHECK((more.tiles == 36 && more.dealt == 20 && more.blocks == 10));
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

TEST_CASE("a block per tile is the same product in both experiments", "[even_shares]") {
  for (const Sides s : {Sides{31, 32, 33}, Sides{132, 260, 64}}) {
    const Operands operands(s);
    INFO(text_of(s));
    CHECK(runs_right(even_shares::kVersions[0],
                     even_shares::SharedProduct{operands.product<BoundedProduct>()}));
    CHECK(runs_right(by_shape::kVersions[0],
                     by_shape::ShapedProduct{operands.product<BoundedProduct>(), 1}));
  }
}

TEST_CASE("every way of the model multiplies right, aligned or not, copies or none", "[by_shape]") {
  // Enough blocks for splits along k, and for tiles that are dealt out before the rest is shared.
  const std::pair<Sides, unsigned> shapes_and_sms[] = {
      {{5, 7, 300}, 4},   {{67, 131, 65}, 1}, {{68, 36, 132}, 2}, {{3, 2, 1}, 1},
      {{13, 11, 600}, 1}, {{35, 1, 260}, 1},  {{1, 33, 260}, 1},  {{1, 1, 100}, 1}};
  for (std::size_t i = 0; i < std::size(shapes_and_sms); i += small_sizes() ? 2 : 1) {
    const auto& [s, sms] = shapes_and_sms[i];
    const Operands operands(s, s.n % 4 == 0 ? 0 : 1);
    const by_shape::ShapedProduct some{operands.product<BoundedProduct>(), sms};
    std::set<std::array<unsigned, 3>> tried;  // one plan of each way, row and choice about copies
    for (by_shape::Plan plan : some.shape.plans()) {
      if (!tried.insert({static_cast<unsigned>(plan.way), plan.row, unsigned{plan.copies}}).second)
        continue;
      INFO(text_of(s) << ", way " << plan.way << ", row " << plan.row << ", " << plan.parts);
      const by_shape::ShapedProduct product{operands.product<BoundedProduct>(), sms, some.shape,
                                            plan};
      for (int repeat = 0; repeat < 2; ++repeat) {  // tickets are put back
        CHECK(runs_right(by_shape::kVersions[1], product));
        CHECK(gaps_are_untouched(product.c));
      }
      if (plan.way < by_shape::Plan::kFewRows && plan.us > 0) {  // two passes, and copies
        plan.way = plan.way == by_shape::Plan::kTickets ? by_shape::Plan::kTwoPasses : plan.way;
        plan.copies = s.n % 4 != 0;
        CHECK(runs_right(
            by_shape::kVersions[1],
            by_shape::ShapedProduct{operands.product<BoundedProduct>(), sms, some.shape, plan}));
      }
    }
    CHECK(tried.size() >= 10);
  }
}

TEST_CASE("copies are made of matrices that are not aligned, and of no others", "[by_shape]") {
  const auto copied = [](unsigned m, unsigned n, unsigned k, bool aligned) {
    const by_shape::ShapeModel shape{m, n, k, aligned, 132};
    const auto plans = shape.plans();
    return std::any_of(plans.begin(), plans.end(), [](const auto& p) { return p.copies; });
  };
  CHECK_FALSE(copied(1024, 1024, 1024, true));
  CHECK(copied(1023, 1023, 1023, false));
  CHECK_FALSE(copied(100, 100, 100, false));  // a copy would take longer than the product
}

TEST_CASE("the model takes large tiles for large products and thin ways for thin ones",
          "[by_shape]") {
  using by_shape::Plan;
  const auto best = [](unsigned m, unsigned n, unsigned k, bool aligned) {
    return by_shape::ShapeModel{m, n, k, aligned, 132}.best();
  };
  for (const unsigned side : {2048u, 4096u, 8192u}) {
    const Plan plan = best(side, side, side, true);
    CHECK((plan.way == Plan::kTiles && by_shape::kTileRows[plan.row].columns == 256));
  }
  CHECK(best(128, 128, 65536, true).parts > 1);
  CHECK(best(1, 4096, 4096, true).way == Plan::kFewRows);
  CHECK(best(4096, 1, 4096, true).way == Plan::kFewColumns);
  CHECK(best(4095, 4095, 1, false).way == Plan::kFewTerms);
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
