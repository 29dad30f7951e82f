// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/15_matmul_of_any_shape/matmul_of_any_shape.cu"
#undef main

#include <array>
#include <iterator>
#include <set>

#include "matmul_testing.cuh"

#define main experiment_main
namespace by_shape {
#include "../chapters/15_matmul_of_any_shape/experiments/by_shape.cu"
}
namespace sawtooth {
#include "../chapters/15_matmul_of_any_shape/experiments/sawtooth.cu"
}
#undef main

// The ways of the chapter, cuBLAS, and the experiment's choice among many. On seven multiprocessors
// tiles of the tests are split, and shared; by shape large tiles are taken where there is one
// multiprocessor, and small ones where there are thousands. Even shares come last: they are tried
// at a large shape.
template <class Check>
void for_every_version(const Operands& operands, Check check) {
  const AnyShape product{operands.product(), 7};
  check(kCublas<AnyShape>, product);
  for (const unsigned multiprocessors : {1u, 5000u})
    check(by_shape::kVersions[1], by_shape::ShapedProduct{operands.product(), multiprocessors});
  for (const unsigned way : {0, 1, 2, 4, 3}) check(kWays[way].version, product);
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
  MatrixProduct product(70, 40, 200, kSeed);  // 2 small tiles of 13 steps
  CUDA_CHECK(cudaFuncSetAttribute(multiply_shares<Small>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, Small::kBytes));
  for (const bool with_tickets : {true, false}) {
    for (const unsigned blocks : {1u, 2u, 5u, 13u, 26u}) {
      const DeviceArray<float> sums(std::size_t{2} * blocks * Small::kRows * Small::kColumns);
      const DeviceArray<unsigned> tickets(std::vector<unsigned>(2, 0));
      const Shares shares = {blocks, 13, 2, 0, 2, 1, sums, tickets};
      INFO(blocks << " blocks, " << (with_tickets ? "tickets" : "two passes"));
      for (int repeat = 0; repeat < 3; ++repeat) {
        product.poison();
        multiply_shares<Small><<<blocks, Small::kThreads, Small::kBytes>>>(
            product.a, product.b, product.c, shares, with_tickets);
        if (!with_tickets)
          put_together<Small>
              <<<dim3(2, Small::kElements / kWide), Small::kThreads>>>(product.c, shares);
        CUDA_CHECK_LAUNCH();
        CHECK(product.is_right("even shares"));
      }
    }
  }
}

TEST_CASE("work is divided into whole tiles first, and the rest into even shares") {
  const Shares whole = divide_work(5, 4, 4, 10);
  CHECK((whole.down == 5 && whole.across == 4 && whole.dealt == 20 && whole.blocks == 10));
  const Shares rest = divide_work(5, 6, 4, 10);  // three waves
  CHECK((rest.tiles == 30 && rest.dealt == 30));
  const Shares more = divide_work(6, 6, 4, 10);  // of three and a half waves two are dealt out
  CHECK((more.tiles == 36 && more.dealt == 20 && more.blocks == 10));
  const Shares few = divide_work(2, 1, 13, 10);
  CHECK((few.tiles == 2 && few.dealt == 0 && few.blocks == 10));
}

TEST_CASE("no share is empty, whatever the number of multiprocessors") {
  for (const unsigned blocks : {1u, 2u, 4u, 7u, 16u, 132u}) {
    for (const unsigned tiles : {1u, 2u, 3u, 5u, 40u, 133u}) {
      for (const unsigned steps : {1u, 3u, 16u}) {
        const Shares s = divide_work(tiles, 1, steps, blocks);
        INFO(blocks << " multiprocessors, " << tiles << " tiles of " << steps << " steps");
        CHECK(s.blocks == std::min(blocks, tiles * steps));
        for (unsigned block = 0; block < s.blocks; ++block) CHECK(s.part(block, 0).count > 0);
      }
    }
  }
}

namespace {

AnyShape shape_on(unsigned m, unsigned n, unsigned k, unsigned sms) {
  // What a model asks of a product are its sides: nothing is computed.
  MatrixProduct product(1, 1, 1, kSeed);
  product.a = {product.a.data, m, k, k};
  product.b = {product.b.data, k, n, n};
  product.c = {product.c.data, m, n, n};
  return {std::move(product), sms};
}

}  // namespace

TEST_CASE("tiles are split into as many parts as one wave holds, and shares have eight steps") {
  CHECK(shape_on(512, 512, 512, 132).parts == 16);     // 8 tiles
  CHECK(shape_on(1536, 2820, 4096, 132).parts == 1);   // 144 tiles
  CHECK(shape_on(128, 256, 65536, 132).parts == 132);  // 1 tile
  CHECK(shape_on(128, 256, 64, 132).parts == 2);       // of 4 steps
  CHECK(shape_on(1, 1, 1, 132).parts == 1);
  CHECK(shape_on(1536, 2820, 4096, 132).shares.blocks == 132);
  CHECK(shape_on(256, 256, 200, 132).shares.blocks == 3);  // 2 tiles of 13 steps
  CHECK(shape_on(1, 1, 1, 132).shares.blocks == 1);
}

TEST_CASE("the model counts a wave for every tile of the fullest multiprocessor") {
  const double step = kLargeTimes.ends + 256 * kLargeTimes.step;
  CHECK(is_close(kWays[0].us(shape_on(1536, 2816, 4096, 132)), kLaunch + step, 1e-12));
  CHECK(is_close(kWays[0].us(shape_on(1536, 2820, 4096, 132)), kLaunch + 2 * step, 1e-12));
  // Of small tiles an SM has three at a time, and the first of them has longer steps.
  const TileTimes t = kSmallTimes;
  const double three = 3 * t.ends + 256 * (3 * t.step + t.first);
  const double four = 4 * t.ends + 256 * (4 * t.step + 2 * t.first);
  CHECK(is_close(kWays[1].us(shape_on(1536, 2048, 4096, 132)), kLaunch + three, 1e-12));  // 384
  CHECK(is_close(kWays[1].us(shape_on(1536, 2176, 4096, 132)), kLaunch + four, 1e-12));
  // Where a step is short the bytes of A, B and C take longer.
  const double bytes = 4.0 * (4096 + 4096 + 4096.0 * 4096);
  CHECK(is_close(kWays[1].us(shape_on(4096, 4096, 1, 5000)), kLaunch + bytes / kMemory, 1e-12));
}

TEST_CASE("the model lets few_rows read B once for every eight rows") {
  const auto us = [](unsigned m) { return kWays[4].us(shape_on(m, 4096, 4096, 132)); };
  const double of_b = 4.0 * 4096 * 4096, of_row = 4.0 * (4096 + 4096);  // of A and C
  const double parts_of_8 = 2.0 * sizeof(float) * 33 * 8 * 4096 / kL2;
  CHECK(is_close(us(8), 2 * kLaunch + (of_b + 8 * of_row) / kMemory + parts_of_8, 1e-12));
  const double parts_of_64 = 2.0 * sizeof(float) * 5 * 64 * 4096 / kL2;
  CHECK(is_close(us(64),
                 2 * kLaunch + (of_b + 64 * of_row) / kMemory + 7 * of_b / kAgain + parts_of_64,
                 1e-12));
}

TEST_CASE("the model counts each part of a shared tile that its last block adds") {
  const auto us = [](unsigned n) { return kWays[3].us(shape_on(1536, n, 4096, 132)); };
  const TileTimes t = kShareTimes;
  CHECK(is_close(us(2816), kLaunch + t.ends + 256 * t.step, 1e-12));  // none is shared
  CHECK(is_close(us(3072), kLaunch + 2 * t.ends + 280 * t.step + 132.0 / 144 * kPart, 1e-12));
  CHECK(is_close(us(256), kLaunch + 2 * t.ends + 24 * t.step + 11 * kPart, 1e-12));
}

TEST_CASE("the model predicts what is stored beside the rows that it was fitted to") {
  std::ifstream rows("chapters/15_matmul_of_any_shape/results/h200_fit.csv");
  std::string line;
  REQUIRE(std::getline(rows, line));
  REQUIRE(line.find("setting,version,m,n,k,before_ms,measured_ms,fitted,after_ms,") == 0);
  unsigned seen = 0;
  while (std::getline(rows, line)) {
    const std::vector<std::string> f = fields_of(line);
    const auto side = [&](std::size_t i) { return static_cast<unsigned>(std::stoul(f[i])); };
    const AnyShape shape = shape_on(side(2), side(3), side(4), 132);
    const auto way = std::find_if(std::begin(kWays), std::end(kWays),
                                  [&](const Way& w) { return w.version.name == f[1]; });
    INFO(line);
    REQUIRE(way != std::end(kWays));
    CHECK(std::abs(way->us(shape) / 1e3 / std::stod(f[8]) - 1) < 1e-4);
    ++seen;
  }
  CHECK(seen > 150);
}

TEST_CASE("the model's choice: large tiles for large squares, parts for deep, rows for thin") {
  const auto chosen = [](unsigned m, unsigned n, unsigned k) {
    return std::string(best_way(shape_on(m, n, k, 132)).version.name);
  };
  CHECK(chosen(4096, 4096, 4096) == "whole_tiles");
  CHECK(chosen(8192, 8192, 8192) == "whole_tiles");
  CHECK(chosen(128, 256, 65536) == "split_k");
  CHECK(chosen(1, 4096, 4096) == "few_rows");
  CHECK(chosen(8, 8192, 8192) == "few_rows");
  CHECK(chosen(64, 4096, 4096) == "split_k");
  CHECK(chosen(512, 512, 512) == "split_k");
  CHECK(chosen(1536, 2820, 4096) == "even_shares");
}

TEST_CASE("what is chosen is launched") {
  const Operands operands({5, 40, 300});
  const AnyShape product{operands.product(), 7};
  CHECK(runs_right(kChosen.version, product));
  CHECK(kChosen.us(product) == best_way(product).us(product));
  for (const Way& way : kWays) CHECK(way.us(product) >= kChosen.us(product));
}

TEST_CASE("ways that split or share are right on any number of multiprocessors") {
  for (const unsigned sms : {1u, 2u, 3u, 16u, 40u}) {
    for (const Sides s : {Sides{65, 131, 700}, Sides{132, 260, 90}}) {
      const Operands operands(s, s.n % 4);
      const AnyShape product{operands.product(), sms};
      for (const unsigned way : {2, 3, 4}) {
        INFO(kWays[way].version.name << ", " << text_of(s) << ", " << sms);
        for (int repeat = 0; repeat < 2; ++repeat) CHECK(runs_right(kWays[way].version, product));
        CHECK(gaps_are_untouched(product.c));
      }
    }
  }
}

TEST_CASE("each row of the experiment is the same product, gaps included", "[by_shape]") {
  for (const Sides s : {Sides{31, 32, 33}, Sides{132, 260, 64}, Sides{1, 67, 1}}) {
    INFO(text_of(s));
    const Operands operands(s, 5);
    check_all(by_shape::kVersions, by_shape::ShapedProduct{operands.product(), 1});
  }
}

TEST_CASE("the first columns are multiplied, and the others left alone", "[sawtooth]") {
  const MatrixProduct all(70, 520, 60, kSeed);
  const DeviceArray<float> sums(std::size_t{6} * Large::kRows * Large::kColumns);
  const DeviceArray<unsigned> tickets(std::vector<unsigned>(6, 0));
  for (const unsigned n : {256u, 260u, 512u}) {
    const sawtooth::Columns product{all, n, 3, sums, tickets};
    for (const auto& version : sawtooth::kVersions) {
      INFO(version.name << ", " << n);
      CHECK(runs_right(version, product));
      const std::vector<float> c = all.download();
      for (std::size_t i = 0; i < c.size(); ++i)
        if (std::isnan(c[i]) != (i % 520 >= n)) FAIL("element " << i);
      CHECK_FALSE(sawtooth::Columns{all, n + 4, 3, sums, tickets}.is_right("too few"));
    }
  }
}

TEST_CASE("even shares are right where there are fewer steps than multiprocessors", "[sawtooth]") {
  constexpr unsigned kMultiprocessors = 16;
  const DeviceArray<float> sums(std::size_t{2} * kMultiprocessors * Large::kRows * Large::kColumns);
  const DeviceArray<unsigned> tickets(std::vector<unsigned>(std::size_t{2} * kMultiprocessors, 0));
  for (const unsigned k : {16u, 40u, 70u}) {
    const MatrixProduct all(70, 260, k, kSeed);
    for (const unsigned n : {256u, 260u}) {
      const sawtooth::Columns product{all, n, kMultiprocessors, sums, tickets};
      for (int repeat = 0; repeat < 2; ++repeat) {
        INFO("k = " << k << ", n = " << n);
        CHECK(runs_right(sawtooth::kVersions[2], product));
      }
    }
  }
}

TEST_CASE("four columns more are measured where tiles fill their waves", "[sawtooth]") {
  const std::vector<unsigned> on_h200 = sawtooth::columns_up_to(5888, 12, 132);
  CHECK(on_h200.size() == 25);
  CHECK(std::count(on_h200.begin(), on_h200.end(), 2820u) == 1);
  CHECK(std::count(on_h200.begin(), on_h200.end(), 5636u) == 1);
  CHECK(sawtooth::columns_up_to(516, 1, 2) == std::vector<unsigned>{256, 512, 516});
  CHECK(sawtooth::columns_up_to(514, 1, 2) == std::vector<unsigned>{256, 512});
}

TEST_CASE("every way of the model multiplies right, aligned or not, copies or none", "[by_shape]") {
  // Enough blocks for splits along k, and for tiles that are dealt out before the rest is shared.
  const std::pair<Sides, unsigned> shapes_and_sms[] = {
      {{5, 7, 300}, 4},   {{67, 131, 65}, 1}, {{68, 36, 132}, 2}, {{3, 2, 1}, 1},
      {{13, 11, 600}, 1}, {{35, 1, 260}, 1},  {{1, 33, 260}, 1},  {{1, 1, 100}, 1}};
  for (std::size_t i = 0; i < std::size(shapes_and_sms); i += small_sizes() ? 2 : 1) {
    const auto& [s, sms] = shapes_and_sms[i];
    const Operands operands(s, s.n % 4 == 0 ? 0 : 1);
    const by_shape::ShapedProduct some{operands.product(), sms};
    std::set<std::array<unsigned, 3>> tried;  // one plan of each way, row and choice about copies
    for (by_shape::Plan plan : some.shape.plans()) {
      if (!tried.insert({static_cast<unsigned>(plan.way), plan.row, unsigned{plan.copies}}).second)
        continue;
      INFO(text_of(s) << ", way " << plan.way << ", row " << plan.row << ", " << plan.parts);
      const by_shape::ShapedProduct product{operands.product(), sms, some.shape, plan};
      for (int repeat = 0; repeat < 2; ++repeat) {  // tickets are put back
        CHECK(runs_right(by_shape::kVersions[1], product));
        CHECK(gaps_are_untouched(product.c));
      }
      if (plan.way < by_shape::Plan::kFewRows && plan.us > 0) {  // two passes, and copies
        plan.way = plan.way == by_shape::Plan::kTickets ? by_shape::Plan::kTwoPasses : plan.way;
        plan.copies = s.n % 4 != 0;
        CHECK(runs_right(by_shape::kVersions[1],
                         by_shape::ShapedProduct{operands.product(), sms, some.shape, plan}));
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
    CHECK((plan.way == Plan::kTiles && by_shape::kTiles[plan.row].columns == 256));
  }
  CHECK(best(128, 128, 65536, true).parts > 1);
  CHECK(best(1, 4096, 4096, true).way == Plan::kFewRows);
  CHECK(best(4096, 1, 4096, true).way == Plan::kFewColumns);
  CHECK(best(4095, 4095, 1, false).way == Plan::kFewTerms);
}

TEST_CASE("the model predicts and chooses as when the stored shapes were measured", "[by_shape]") {
  const auto text_of_way = [](const by_shape::Plan& plan) {
    const char* const names[] = {"tiles",    "tickets",     "two_passes",
                                 "few_rows", "few_columns", "few_terms"};
    const bool has_tile = plan.way < by_shape::Plan::kFewRows;
    return text(names[plan.way], ",", has_tile ? by_shape::kTiles[plan.row].rows : 0, "x",
                has_tile ? by_shape::kTiles[plan.row].columns : 0, ",", plan.parts, ",",
                plan.copies ? 1 : 0);
  };
  std::ifstream rows("chapters/15_matmul_of_any_shape/results/h200_shapes.csv");
  std::string line;
  REQUIRE(std::getline(rows, line));
  REQUIRE(line.find("process,seed,kind,m,n,k,way,tile,parts,copies,predicted_us,") == 0);
  unsigned seen = 0;
  while (std::getline(rows, line)) {
    const std::vector<std::string> f = fields_of(line);
    if (f[0] != "1") continue;  // of the same shapes other processes store times alone
    const auto side = [&](std::size_t i) { return static_cast<unsigned>(std::stoul(f[i])); };
    const unsigned m = side(3), n = side(4), k = side(5);
    const bool aligned = n % 4 == 0 && k % 4 == 0;
    const by_shape::Plan plan = by_shape::ShapeModel{m, n, k, aligned, 132}.best();
    INFO(line);
    CHECK(text_of_way(plan) == f[6] + "," + f[7] + "," + f[8] + "," + f[9]);
    CHECK(std::abs(plan.us - std::stod(f[10])) < 0.0051);
    ++seen;
  }
  CHECK(seen > 600);
}

TEST_CASE("tiles that lie inside, beside such that do not, are copied 16 bytes at a time") {
  // All sides are multiples of 4, the first two not of a tile. Such tiles have whole steps only, or
  // they have not, or rows that are not aligned.
  const unsigned whole = small_sizes() ? 64 : 96;
  const std::pair<unsigned, unsigned> depths_and_gaps[] = {{20, 0}, {whole, 0}, {whole, 1}};
  for (const auto& [k, gap] : depths_and_gaps)
    check_every_version(Operands(small_sizes() ? Sides{132, 260, k} : Sides{260, 516, k}, gap));
}

TEST_CASE("rows at multiples of 16 bytes that end between two are not read past their ends") {
  check_every_version(Operands({37, 23, 35}, 1));  // 24 and 36 floats apart; then a NaN
}
