// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/16_tensor_cores/tensor_cores.cu"
#undef main

#include <cuda_fp16.h>

#include <fstream>
#include <random>

#include "../chapters/16_tensor_cores/experiments/one_product.cuh"
#include "kernel_testing.cuh"

#define main experiment_main
namespace formats {
#include "../chapters/16_tensor_cores/experiments/formats.cu"
}
namespace sample_rounding {
#include "../chapters/16_tensor_cores/experiments/sample_rounding.cu"
}
namespace fragments {
#include "../chapters/16_tensor_cores/experiments/fragments.cu"
}
#undef main

namespace {

constexpr std::uint64_t kSeed = 5;

struct Sides {
  unsigned m, n, k;
};

std::string text_of(Sides s) { return text(s.m, " x ", s.n, " x ", s.k); }

// Two multiprocessors: several blocks, and so few that a persistent one gets several tiles.
TensorProduct product_of(Sides s, unsigned gap = 0, std::uint64_t seed = kSeed) {
  TensorProduct product(s.m, s.n, s.k, seed, gap);
  product.sms = 2;
  return product;
}

// Whether what lies between the rows of C is still what poison() left there.
bool gaps_are_untouched(const Bf16Matrix& c) {
  std::vector<unsigned short> all(static_cast<std::size_t>(c.height) * c.stride);
  CUDA_CHECK(cudaMemcpy(all.data(), c.data, all.size() * sizeof(Bf16), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i % c.stride >= c.width && all[i] != 0xffff) return false;
  return true;
}

// Calls check(version) for each version that this device has the instructions for.
template <class Check>
void for_every_version(Check check) {
  static const int level = instructions_here();
  for (const Rung& rung : kRungs)
    if (level >= (rung.needs_hopper ? 2 : 1)) check(rung.version);
}

void check_every_version(const TensorProduct& product) {
  for_every_version([&](const Version<TensorProduct>& version) {
    INFO(version.name << ", " << text_of({product.c.height, product.c.width, product.a.width})
                      << ", rows of A " << product.a.stride << " apart");
    CHECK(runs_right(version, product));
    CHECK(gaps_are_untouched(product.c));
  });
}

}  // namespace

TEST_CASE(
    "every version multiplies whole tiles, of one step, of two, of more than there are stages") {
  for (const Sides s :
       {Sides{128, 256, 32}, Sides{128, 256, 64}, Sides{256, 256, 128}, Sides{128, 512, 320}}) {
    if (small_sizes() && s.k > 128) continue;
    for (const unsigned gap : {0u, 8u}) check_every_version(product_of(s, gap));
  }
}

TEST_CASE("every version multiplies sides that are multiples of 8 around the borders of tiles") {
  for (const Sides s : {Sides{8, 8, 8}, Sides{120, 248, 56}, Sides{136, 264, 72},
                        Sides{72, 520, 24}, Sides{264, 56, 136}, Sides{128, 264, 64}})
    check_every_version(product_of(s, s.m % 16 == 8 ? 0 : 8));
}

TEST_CASE("every version multiplies any sides, and rows that begin anywhere") {
  for (const Sides s : {Sides{1, 1, 1}, Sides{1, 67, 1}, Sides{67, 1, 3}, Sides{127, 255, 63},
                        Sides{129, 257, 65}, Sides{33, 31, 100}})
    for (const unsigned gap : {0u, 1u}) check_every_version(product_of(s, gap));
  for (const Sides s : {Sides{129, 255, 65}, Sides{65, 129, 131}})
    check_every_version(product_of(s, 0));
  // Sides that are no multiples of 8, in rows that begin at multiples of 16 bytes: copies cut them.
  for (const unsigned n : {249u, 250u, 255u}) {
    TensorProduct product(130, 256, 128, kSeed);
    product.sms = 2;
    // The same matrices, narrower: rows are as far apart as before.
    product.b.width = product.c.width = n;
    product.a.width = product.b.height = 121;
    std::vector<float> a(130 * 121), b(std::size_t{121} * n);
    const std::vector<float> all_a = to_floats(product.a_values.values.download());
    const std::vector<float> all_b = to_floats(product.b_values.values.download());
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = all_a[i / 121 * 128 + i % 121];
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = all_b[i / n * 256 + i % n];
    product.expected = multiply_on_host(a, b, 130, n, 121);
    product.tolerance = bf16_bounds(a, b, product.expected, 130, n, 121);
    check_every_version(product);
    if (instructions_here() < 2) continue;
    INFO("two parts, " << n << " columns");  // which are added one by one
    product.poison();
    launch_plan(product, {7, 2, 0});
    CUDA_CHECK_LAUNCH();
    CHECK(product.is_right("two parts"));
    CHECK(gaps_are_untouched(product.c));
  }
}

TEST_CASE("every version multiplies shapes that nobody chose") {
  std::mt19937 random(16);
  for (unsigned i = 0; i < (small_sizes() ? 2 : 8); ++i) {
    const auto side = [&](unsigned most) { return 1 + static_cast<unsigned>(random() % most); };
    const Sides odd{side(200), side(300), side(200)};
    const Sides even{odd.m, (odd.n + 7) / 8 * 8, (odd.k + 7) / 8 * 8};
    check_every_version(product_of(i % 2 == 0 ? even : odd, 0, kSeed + i));
  }
}

TEST_CASE("multiplying by the identity gives every element back exactly, on either side") {
  const unsigned side = small_sizes() ? 128 : 256;
  std::vector<float> one(std::size_t{side} * side, 0.0f), x(one);
  for (unsigned i = 0; i < side; ++i) one[i * side + i] = 1;
  // All are BF16. No two columns are alike, nor two rows that are less than 32 apart.
  for (unsigned i = 0; i < x.size(); ++i)
    x[i] = std::ldexp(128.0f + static_cast<float>(i % 128), static_cast<int>(i / 128 % 64) - 32);
  for (const bool left : {true, false}) {
    TensorProduct product(side, side, side, left ? one : x, left ? x : one);
    product.sms = 3;
    for_every_version([&](const Version<TensorProduct>& version) {
      INFO(version.name << (left ? ", identity left" : ", identity right"));
      REQUIRE(runs_right(version, product));
      CHECK(product.download() == x);
    });
  }
}

TEST_CASE("an infinity in B spoils its own column and no other") {
  for (const Sides s : {Sides{40, 72, 40}, Sides{128, 256, 64}}) {
    std::vector<float> b = to_floats(to_bf16(random_floats(std::size_t{s.k} * s.n, -1, 1, 8)));
    b[0] = std::numeric_limits<float>::infinity();
    const std::vector<float> a =
        to_floats(to_bf16(random_floats(std::size_t{s.m} * s.k, -1, 1, 7)));
    const TensorProduct product(s.m, s.n, s.k, a, b);
    for_every_version([&](const Version<TensorProduct>& version) {
      product.poison();
      version.launch(product);
      CUDA_CHECK_LAUNCH();
      const std::vector<float> c = product.download();
      INFO(version.name << ", " << text_of(s));
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < c.size(); ++i) wrong += std::isfinite(c[i]) == (i % s.n == 0);
      CHECK(wrong == 0);
    });
  }
}

TEST_CASE("launches one after the other give the same result, and doing nothing is not right") {
  const TensorProduct product = product_of({136, 256, 192});
  for_every_version([&](const Version<TensorProduct>& version) {
    INFO(version.name);
    product.poison();
    for (int repeat = 0; repeat < repeats(4); ++repeat) version.launch(product);
    CUDA_CHECK_LAUNCH();
    CHECK(product.is_right("launched again and again"));
    product.poison();
    CHECK_FALSE(product.is_right("nothing ran"));
  });
}

TEST_CASE(
    "each tile of the choice is right, whole and in parts, in clusters where there are some") {
  if (instructions_here() < 2) return;
  using AllSides = std::vector<Sides>;
  const AllSides all = small_sizes() ? AllSides{{136, 264, 72}, {33, 136, 264}}
                                     : AllSides{{200, 264, 328}, {33, 136, 264}, {320, 72, 512}};
  for (const Sides s : all) {
    const TensorProduct product = product_of(s, s.m % 2 * 8);
    for (unsigned tile = 0; tile < std::size(kTileTimes); ++tile) {
      for (const unsigned parts : {1u, 2u, 5u}) {
        if (small_sizes() && parts > 2) continue;
        INFO(text_of(s) << ", tile " << tile << ", parts " << parts);
        product.poison();
        launch_plan(product, {tile, parts, 0});
        CUDA_CHECK_LAUNCH();
        CHECK(product.is_right("plan"));
        CHECK(gaps_are_untouched(product.c));
      }
    }
  }
}

TEST_CASE("a plan of more parts than there are steps has a part for each step") {
  if (instructions_here() < 2) return;
  const TensorProduct product = product_of({33, 136, 136});  // three steps
  for (const unsigned parts : {3u, 4u, 9u}) {
    INFO("parts " << parts);
    product.poison();
    launch_plan(product, {6, parts, 0});
    CUDA_CHECK_LAUNCH();
    CHECK(product.is_right("plan"));
  }
}

TEST_CASE("items cover every step of every tile once, in any number of parts") {
  for (const Work work :
       {Work{1, 1, 1, 1}, Work{9, 5, 4, 1}, Work{8, 3, 7, 3}, Work{17, 2, 5, 5}}) {
    std::vector<unsigned> done(std::size_t{work.down} * work.across * work.steps, 0);
    for (unsigned number = 0; number < work.items(); ++number) {
      const Item item = item_of(work, number);
      REQUIRE((item.row < work.down && item.column < work.across && item.count > 0));
      for (unsigned i = 0; i < item.count; ++i)
        ++done[(std::size_t{item.row} * work.across + item.column) * work.steps + item.first + i];
    }
    INFO(work.down << " x " << work.across << ", " << work.steps << " in " << work.parts);
    CHECK(std::count(done.begin(), done.end(), 1u) == static_cast<std::ptrdiff_t>(done.size()));
  }
}

TEST_CASE("neighbouring items lie in few rows and few columns") {
  const Work work = {32, 16, 1, 1};
  for (const unsigned first : {0u, 64u, 448u}) {
    unsigned least_row = 100, most_row = 0, least_column = 100, most_column = 0;
    for (unsigned number = first; number < first + 64; ++number) {
      const Item item = item_of(work, number);
      least_row = std::min(least_row, item.row), most_row = std::max(most_row, item.row);
      least_column = std::min(least_column, item.column);
      most_column = std::max(most_column, item.column);
    }
    CHECK((most_row - least_row == 7 && most_column - least_column == 7));
  }
}

TEST_CASE("the plan never has more parts than steps, nor clusters where there are none") {
  for (const Sides s : {Sides{1, 1, 1}, Sides{128, 256, 65536}, Sides{4096, 4096, 4096},
                        Sides{64, 64, 300}, Sides{16, 4096, 4096}}) {
    for (const bool with_clusters : {true, false}) {
      const Plan plan = best_plan(s.m, s.n, s.k, 132, with_clusters);
      INFO(text_of(s) << ": " << text_of(plan));
      CHECK((plan.parts >= 1 && plan.parts <= div_up(s.k, 64)));
      CHECK((with_clusters || kTileTimes[plan.tile].down * kTileTimes[plan.tile].across == 1));
      CHECK(plan.us > 0);
    }
  }
  CHECK(best_plan(128, 256, 65536, 132, true).parts > 1);
  CHECK(best_plan(4096, 4096, 4096, 132, true).parts == 1);
}

namespace {

// The largest error of 8 x 64 dot products over its bound. `multiply` gets a row of A, a column of
// B, and their length.
template <class Multiply>
double worst_of_bound(std::size_t k, Multiply multiply) {
  constexpr std::size_t kRows = 8, kColumns = 64;
  const std::vector<float> a = to_floats(to_bf16(random_floats(kRows * k, -1, 1, 3)));
  const std::vector<float> columns = to_floats(to_bf16(random_floats(kColumns * k, -1, 1, 4)));
  std::vector<float> b(k * kColumns);
  for (std::size_t i = 0; i < b.size(); ++i) b[i % k * kColumns + i / k] = columns[i];
  const std::vector<double> exact = multiply_on_host(a, b, kRows, kColumns, k);
  const std::vector<double> bounds = bf16_bounds(a, b, exact, kRows, kColumns, k);
  double worst = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const float result = multiply(&a[i / kColumns * k], &columns[i % kColumns * k], k);
    const double error = std::abs(__bfloat162float(__float2bfloat16(result)) - exact[i]);
    worst = std::max(worst, error / bounds[i]);
  }
  return worst;
}

}  // namespace

TEST_CASE("the bound lets sums in FP32 pass, and neither sums in BF16 nor a term too few") {
  for (const std::size_t k : {64u, 4096u}) {
    INFO("k = " << k);
    const auto in_floats = [](const float* x, const float* y, std::size_t count) {
      float sum = 0;
      for (std::size_t i = 0; i < count; ++i) sum += x[i] * y[i];
      return sum;
    };
    CHECK(worst_of_bound(k, in_floats) < 1);
    CHECK(worst_of_bound(k, [&](const float* x, const float* y, std::size_t count) {
            return in_floats(x, y, count - 1);
          }) > 1);
    CHECK(worst_of_bound(k, [&](const float* x, const float* y, std::size_t count) {
            float sum = 0;
            for (std::size_t i = 0; i < count; ++i)
              sum = __bfloat162float(__float2bfloat16(sum + x[i] * y[i]));
            return sum;
          }) > 1);
  }
}

TEST_CASE("the rates are computed from two operations per term") {
  TensorProduct product(2, 3, 5, kSeed);
  CHECK(product.amount() == 2.0 * 2 * 3 * 5);
  product.a.height = product.a.width = product.b.width = 256_Ki;  // in 32 bits it would wrap
  CHECK(product.amount() == std::ldexp(1.0, 55));
}

TEST_CASE("factors are rounded to the nearest that their kind has, and their bits are right",
          "[formats]") {
  const Kind fp16 = kind_of(ptx::Format::kF16), bf16 = kind_of(ptx::Format::kBf16);
  const Kind tf32 = kind_of(ptx::Format::kTf32), fp8 = kind_of(ptx::Format::kE4m3);
  for (const float x : random_floats(2000, -3, 3, 9)) {
    for (const float scale : {1.0f, 0x1p-13f, 0x1p-22f, 0x1p12f}) {
      const float value = x * scale;
      CHECK(rounded_to(fp16, value) == __half2float(__float2half(value)));
      CHECK(bits_as(fp16, rounded_to(fp16, value)) == __half_as_ushort(__float2half(value)));
      CHECK(rounded_to(bf16, value) == __bfloat162float(__float2bfloat16(value)));
      CHECK(bits_as(bf16, rounded_to(bf16, value)) ==
            __bfloat16_as_ushort(__float2bfloat16(value)));
    }
    // No fraction but the ten highest bits, and at most 2^-11 of x off.
    const double rounded = rounded_to(tf32, x);
    CHECK((bits_as(tf32, rounded) & 0x1fff) == 0);
    CHECK(std::abs(rounded - x) <= std::ldexp(std::abs(x), -11));
  }
  // e4m3, by hand: sign, four bits of exponent with bias 7, three of fraction.
  const std::pair<double, unsigned> known[] = {{1, 0x38},      {-1.125, 0xb9}, {448, 0x7e},
                                               {0x1p-6, 0x08}, {0x1p-9, 0x01}, {0, 0}};
  for (const auto& [value, bits] : known) {
    CHECK(rounded_to(fp8, value) == value);
    CHECK(bits_as(fp8, value) == bits);
  }
  CHECK(rounded_to(fp8, 1.0625) == 1.0);  // between two: the even one
  CHECK(rounded_to(fp8, 1.1875) == 1.25);
  CHECK(rounded_to(fp8, 1000) == 448);
  CHECK(words_of(fp8, {1, 2, 4, -1}) == std::vector<std::uint32_t>{0xb8484038});
}

TEST_CASE("one product by warps and by a group is the product, of every kind", "[formats]") {
  if (instructions_here() < 2) return;
  for_every_format([](auto format) {
    constexpr ptx::Format kFormat = decltype(format)::value;
    const Kind kind = kind_of(kFormat);
    for (const std::size_t k : {256 / kind.bits, 1024 / kind.bits, 1280 / kind.bits}) {
      // Whole numbers, whose sums are exact.
      std::vector<double> a(kRowsOfD * k), b(kColumnsOfD * k);
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = random_int(-3, 3, 1, i);
      for (std::size_t i = 0; i < b.size(); ++i) b[i] = random_int(-3, 3, 2, i);
      const std::vector<double> exact = formats::exact_product(a, b);
      std::vector<float> c(exact.size()), expected(exact.size());
      for (std::size_t i = 0; i < c.size(); ++i) {
        c[i] = static_cast<float>(i % 7);
        expected[i] = static_cast<float>(exact[i]) + c[i];
      }
      for (const bool by_group : {false, true}) {
        INFO(kind.name << ", k = " << k << (by_group ? ", by a group" : ", by warps"));
        CHECK(one_product<kFormat>(c, a, b, by_group) == expected);
      }
    }
  });
}

namespace {

// How far a product may be off whose factors were rounded to a kind: each by at most u = 2^-(bits
// of its fraction + 1) of it. So each term by 2 u of it, and all by 2 u sum |a_i b_i|; but for a
// probability of at most 2 exp(-3^2 / 2) by 3 sqrt(2) u times the root of sum (a_i b_i)^2, since
// the roundings err like coins (Hoeffding's inequality). The smaller one is taken. Then the sums
// are cut as in bf16_bounds(): two cuts for each instruction's k and one for each product, of at
// most six times that root.
std::vector<double> bounds_as(const Kind& kind, std::vector<float> a, std::vector<float> b,
                              std::size_t k) {
  for (float& x : a) x = std::abs(x);
  for (float& x : b) x = std::abs(x);
  const std::vector<double> sums = multiply_on_host(a, b, kRowsOfD, kColumnsOfD, k);
  for (float& x : a) x *= x;
  for (float& x : b) x *= x;
  std::vector<double> bounds = multiply_on_host(a, b, kRowsOfD, kColumnsOfD, k);
  const double u = std::ldexp(1, -static_cast<int>(kind.fraction_bits) - 1);
  const double terms = static_cast<double>(k),
               cuts = terms * kind.bits / 128 + 3 * std::sqrt(terms);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const double root = std::sqrt(bounds[i]);
    bounds[i] = std::min(2 * u * sums[i], 3 * std::sqrt(2) * u * root) + cuts * 0x1p-23 * 6 * root;
  }
  return bounds;
}

}  // namespace

TEST_CASE("a product in TF32 that is given out as FP32 fails, and passes as TF32", "[formats]") {
  const Kind tf32 = kind_of(ptx::Format::kTf32), bf16 = kind_of(ptx::Format::kBf16);
  const std::vector<float> zeros(std::size_t{kRowsOfD} * kColumnsOfD, 0.0f);
  for (const std::size_t k : {16u, 64u, 256u, 4096u}) {
    if (small_sizes() && k > 64) continue;
    const std::vector<float> a = random_floats(kRowsOfD * k, -1, 1, kSeed);
    const std::vector<float> b = random_floats(k * kColumnsOfD, -1, 1, kSeed + 1);
    const std::vector<double> exact = multiply_on_host(a, b, kRowsOfD, kColumnsOfD, k);
    const std::vector<double> of_fp32 = product_bounds(a, b, kRowsOfD, kColumnsOfD, k);
    const std::vector<double> of_tf32 = bounds_as(tf32, a, b, k),
                              of_bf16 = bounds_as(bf16, a, b, k);
    const auto passes = [&](const std::vector<float>& d, const std::vector<double>& bounds) {
      return all_close("product", d, exact, [&](std::size_t i) { return bounds[i]; });
    };
    std::vector<float> d = zeros;
    for (std::size_t i = 0; i < d.size(); ++i)
      for (std::size_t l = 0; l < k; ++l)
        d[i] += a[i / kColumnsOfD * k + l] * b[l * kColumnsOfD + i % kColumnsOfD];
    INFO("k = " << k);
    CHECK(passes(d, of_fp32));

    const std::vector<double> rows(a.begin(), a.end());
    std::vector<double> columns(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) columns[i] = b[i % k * kColumnsOfD + i / k];
    for (const bool by_group : {false, true}) {
      if (instructions_here() < (by_group ? 2 : 1)) continue;
      INFO((by_group ? "by a group" : "by warps"));
      d = one_product<ptx::Format::kTf32>(zeros, formats::rounded(tf32, rows),
                                          formats::rounded(tf32, columns), by_group);
      CHECK_FALSE(passes(d, of_fp32));
      CHECK(passes(d, of_tf32));
      d = one_product<ptx::Format::kBf16>(zeros, formats::rounded(bf16, rows),
                                          formats::rounded(bf16, columns), by_group);
      CHECK_FALSE(passes(d, of_tf32));
      CHECK(passes(d, of_bf16));
    }
  }
}

TEST_CASE("products alone are as many as were asked for, and are checked", "[formats]") {
  if (instructions_here() < 2) return;
  const formats::Products<ptx::Format::kBf16> products{1, 3};
  CHECK(products.amount() == 2.0 * 3 * 2 * 64 * 128 * 64);
  products.launch(3);
  CHECK(products.is_right());
  products.poison();
  CHECK_FALSE(products.is_right());  // nothing ran
}

TEST_CASE("tensor cores round as an H200 was seen to, bit for bit", "[sample_rounding]") {
  if (instructions_here() < 2) return;
  std::istringstream ours(sample_rounding::results_of(true));
  std::ifstream stored("chapters/16_tensor_cores/results/h200_rounding.csv");
  REQUIRE(stored);
  std::string line, other;
  std::size_t lines = 0, differ = 0;
  while (std::getline(stored, line)) {
    REQUIRE(std::getline(ours, other));
    ++lines;
    if (line != other && ++differ < 10) UNSCOPED_INFO("H200: " << line << ", here: " << other);
  }
  CHECK(lines > 1000);
  CHECK(differ == 0);
}

TEST_CASE("lanes hold what the lesson draws, and rows come to them with and without a swizzle",
          "[fragments]") {
  if (instructions_here() < 1) return;
  using namespace fragments;
  const std::vector<Held> of_a = held_of(number, mixed), of_b = held_of(identity, number);
  CHECK(is_product(of_a, of_b, number, mixed));
  CHECK_FALSE(is_product(of_a, of_b, number, number));
  CHECK(both_are_right<4>());
  CHECK(both_are_right<8>());
  CHECK(both_are_right<16>());
  std::stringstream stored;
  stored << std::ifstream("chapters/16_tensor_cores/results/fragments.csv").rdbuf();
  CHECK(stored.str() == lines_of(of_a, of_b));
}
