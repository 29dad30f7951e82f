// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/14_matmul_at_the_limit/matmul_at_the_limit.cu"
#undef main

#include <random>

#include "../chapters/14_matmul_at_the_limit/work_shares.cuh"
#include "kernel_testing.cuh"

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

namespace {

constexpr std::uint64_t kSeed = 5;

struct Sides {
  unsigned m, n, k;
};

std::string text_of(Sides s) {
  return std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k);
}

// Dense values with `gap` NaNs behind each row: a kernel that takes the width for the stride reads
// them.
std::vector<float> with_gaps(const std::vector<float>& dense, unsigned width, unsigned gap) {
  std::vector<float> wide;
  for (std::size_t i = 0; i < dense.size(); i += width) {
    wide.insert(wide.end(), &dense[i], &dense[i] + width);
    wide.insert(wide.end(), gap, std::nanf(""));
  }
  return wide;
}

// A, B and room for C, from which the products of all programs are made.
struct Operands {
  Operands(Sides s, std::vector<float> values_of_a, std::vector<float> values_of_b,
           unsigned between_rows = 0)
      : sides(s),
        gap(between_rows),
        host_a(std::move(values_of_a)),
        host_b(std::move(values_of_b)) {}

  // Seeded random elements from -1 to 1.
  explicit Operands(Sides s, unsigned between_rows = 0, std::uint64_t seed = kSeed)
      : Operands(s, random_floats(std::size_t{s.m} * s.k, -1, 1, seed),
                 random_floats(std::size_t{s.k} * s.n, -1, 1, seed + 1), between_rows) {}

  BoundedProduct product() const {
    BoundedProduct p(sides.m, sides.n, sides.k, host_a, host_b);
    if (gap == 0) return p;
    p.a = {a, sides.m, sides.k, sides.k + gap};
    p.b = {b, sides.k, sides.n, sides.n + gap};
    p.c = {c, sides.m, sides.n, sides.n + gap};
    return p;
  }

  Sides sides;
  unsigned gap;
  std::vector<float> host_a, host_b;
  DeviceArray<float> a{with_gaps(host_a, sides.k, gap)}, b{with_gaps(host_b, sides.n, gap)};
  DeviceArray<float> c{std::size_t{sides.m} * (sides.n + gap)};
};

// Calls `check(version, product)` for each version of the chapter, cuBLAS, and those of the
// experiments that are not the same again. By shape large tiles are taken where there is one
// multiprocessor, and small ones where there are thousands.
template <class Check>
void for_every_version(const Operands& operands, Check check) {
  const BoundedProduct product = operands.product();
  for (const auto& version : kVersions) check(version, product);
  check(kCublas<BoundedProduct>, product);
  check(even_shares::kVersions[1], even_shares::SharedProduct(operands.product()));
  for (const int multiprocessors : {1, 5000})
    check(by_shape::kVersions[1], by_shape::ShapedProduct(operands.product(), multiprocessors));
}

// Whether what lies between the rows of C is still what poison() left there.
bool gaps_are_untouched(const Matrix& c) {
  std::vector<float> all(c.elements());
  CUDA_CHECK(cudaMemcpy(all.data(), c.data, all.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i % c.stride >= c.width && !std::isnan(all[i])) return false;
  return true;
}

void check_every_version(const Operands& operands) {
  for_every_version(operands, [&](const auto& version, const auto& product) {
    INFO(version.name << ", " << text_of(operands.sides) << ", gap " << operands.gap);
    CHECK(runs_right(version, product));
    CHECK(gaps_are_untouched(product.c));
  });
}

// The matrix whose product with anything is that: index errors cannot hide behind it.
std::vector<float> identity_matrix(unsigned side) {
  std::vector<float> one(std::size_t{side} * side, 0.0f);
  for (unsigned i = 0; i < side; ++i) one[std::size_t{i} * side + i] = 1.0f;
  return one;
}

bool runs_shares_right(const BoundedProduct& p, Shares shares) {
  p.poison();
  multiply_even_shares<Small>
      <<<shares.blocks, Small::kThreads, EvenShares<Small>::kBytes>>>(p.a, p.b, p.c, shares);
  CUDA_CHECK_LAUNCH();
  return p.is_right("even shares");
}

}  // namespace

TEST_CASE(
    "every version multiplies matrices of awkward shapes, within the bound of a dot product") {
  // One element, one row, one column, primes, one more than tiles of 16, 32 and 128, wide and tall.
  std::vector<Sides> shapes = {{1, 1, 1},    {1, 67, 1},   {67, 1, 1},   {1, 1, 67},
                               {31, 32, 33}, {16, 16, 16}, {37, 53, 29}, {3, 200, 17}};
  // One past every tile, also of 128: in both directions, or under checkers in one at a time.
  const std::vector<Sides> large = {{129, 257, 65}, {200, 3, 300}};
  const std::vector<Sides> small = {{129, 17, 33}, {17, 129, 33}, {70, 3, 130}};
  for (const Sides s : small_sizes() ? small : large) shapes.push_back(s);
  for (const Sides s : shapes) check_every_version(Operands(s));
}

TEST_CASE(
    "every version respects a stride that is wider than the matrix, and leaves the gap alone") {
  check_every_version(Operands({33, 47, 20}, 5));
}

TEST_CASE("the row of cuBLAS multiplies the same matrices, gaps included") {
  for (const Sides s : {Sides{33, 47, 20}, Sides{1, 67, 1}}) {
    const Operands operands(s, 5);
    const BoundedProduct product = operands.product();
    INFO(text_of(s));
    CHECK(runs_right(kCublas<BoundedProduct>, product));
    CHECK(gaps_are_untouched(product.c));
    CHECK(runs_right(by_shape::kVersions[2], by_shape::ShapedProduct(operands.product(), 1)));
  }
}

TEST_CASE("the rates are computed from two operations per term") {
  BoundedProduct product(2, 3, 5, kSeed);
  CHECK(product.amount() == 2.0 * 2 * 3 * 5);
  product.a.height = product.a.width = product.b.width = 256_Ki;  // in 32 bits it would wrap
  CHECK(product.amount() == std::ldexp(1.0, 55));
}

TEST_CASE("multiplying by the identity gives every element back exactly, on either side") {
  const unsigned side = 45;
  std::vector<float> x(side * side);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);  // no two elements alike
  for (const bool left : {true, false}) {
    const Operands operands({side, side, side}, left ? identity_matrix(side) : x,
                            left ? x : identity_matrix(side));
    for_every_version(operands, [&](const auto& version, const auto& product) {
      INFO(version.name << (left ? ", identity left" : ", identity right"));
      REQUIRE(runs_right(version, product));
      CHECK(product.download() == x);
    });
  }
}

TEST_CASE("launches one after the other give the same result") {
  for_every_version(Operands({70, 40, 50}), [](const auto& version, const auto& product) {
    product.poison();
    for (int repeat = 0; repeat < 5; ++repeat) version.launch(product);
    CUDA_CHECK_LAUNCH();
    INFO(version.name);
    CHECK(product.is_right(version.name));
  });
}

TEST_CASE("the checker rejects a kernel that does nothing, a NaN, and one wrong element") {
  const BoundedProduct product(33, 34, 35, kSeed);
  CHECK_FALSE(product.is_right("nothing ran"));
  REQUIRE(runs_right(kVersions[0], product));
  CHECK(product.error_of_bound() < 1);
  const std::vector<float> c = product.download();
  for (const float wrong : {c[500] + 0.01f, std::nanf("")}) {
    std::vector<float> other = c;
    other[500] = wrong;
    CUDA_CHECK(cudaMemcpy(product.c.data, other.data(), other.size() * sizeof(float),
                          cudaMemcpyHostToDevice));
    CHECK_FALSE(product.is_right("one wrong element"));
    if (wrong == wrong) CHECK(product.error_of_bound() > 1);
  }
  product.poison();
  CHECK_FALSE(product.is_right("poisoned"));
}

TEST_CASE("the error bound is as wide as theory says and no wider") {
  const std::vector<float> ones(64, 1.0f);
  const double u = std::ldexp(1.0, -24);
  // Of two terms no error is larger than two roundings; of 64 it is taken to be 3 * sqrt(64).
  CHECK(is_close(product_bounds(ones, ones, 1, 1, 2)[0], 2 * u / (1 - 2 * u) * 2, 1e-15));
  CHECK(is_close(product_bounds(ones, ones, 1, 1, 64)[0], 3 * 8 * u * 64, 1e-12));
}

TEST_CASE("a large shape that no tile divides comes out right") {
  // A thousand million terms: on the CPU backend one version, in one order of threads, and not
  // under the sanitizers.
  const char* const schedule = std::getenv("CUDA_CPU_SCHEDULE");
  if (!kOnGpu && schedule != nullptr && std::string(schedule) != "forward") return;
  if (std::getenv("TEST_SIZES") != nullptr) return;
  const Operands operands({1024, 1000, 1013});
  if (kOnGpu) return check_every_version(operands);
  const auto& serpentine = kVersions[std::size(kVersions) - 1];
  CHECK(runs_right(serpentine, operands.product()));
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
    CHECK(runs_right(even_shares::kVersions[0], even_shares::SharedProduct(operands.product())));
    CHECK(runs_right(by_shape::kVersions[0], by_shape::ShapedProduct(operands.product(), 1)));
  }
}

TEST_CASE("copies are made of matrices that are not aligned, and of no others", "[by_shape]") {
  const auto copied = [](Sides s, unsigned gap) {
    const Operands operands(s, gap);
    const by_shape::ShapedProduct product(operands.product(), 1);
    CHECK(product.needs_copies == (product.copies.size() > 0));
    return product.needs_copies;
  };
  CHECK_FALSE(copied({5, 8, 12}, 0));
  CHECK_FALSE(copied({5, 8, 12}, 4));
  CHECK(copied({5, 9, 12}, 0));
  CHECK(copied({5, 8, 13}, 0));
  CHECK(copied({5, 8, 12}, 1));
}

TEST_CASE("multiply-adds alone are as many as were asked for, and each is made",
          "[multiply_adds_alone]") {
  using namespace multiply_adds_alone;
  for (const double flop : {1.0, 1e4, 2e5}) {
    const MultiplyAdds data(flop, 2);
    INFO(flop << " operations");
    CHECK(data.amount() >= flop);
    CHECK(data.amount() - flop <= 2.0 * kChains * static_cast<double>(data.results.size()));
    CHECK(runs_right(kMultiplyAdds, data));
    data.poison();
    CHECK_FALSE(data.is_right("nothing ran"));
  }
}
