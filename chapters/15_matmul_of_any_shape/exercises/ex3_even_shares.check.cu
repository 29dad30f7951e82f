// SPDX-License-Identifier: MIT
// STARTER FAILS: C is right, and every block does as many steps as every other
// TOO SLOW: as_many_blocks_for_each_tile
#include <algorithm>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/matrices.cuh"
#include "common/labs/speed.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// C of `down` x `across` tiles, on one block for each multiprocessor.
struct TilesOnAllMultiprocessors {
  TilesOnAllMultiprocessors(std::size_t down, std::size_t across)
      : m(down * kTile),
        n(across * kTile),
        host_a(random_floats(m * kDepthOfAll, -1, 1, 5)),
        host_b(random_floats(kDepthOfAll * n, -1, 1, 6)),
        expected(multiply_on_host(host_a, host_b, m, n, kDepthOfAll)),
        bounds(product_bounds(host_a, host_b, m, n, kDepthOfAll)),
        a(host_a, m, kDepthOfAll, 0),
        b(host_b, kDepthOfAll, n, 0),
        c(m, n, 0),
        blocks(static_cast<unsigned>(lab::this_device().multiProcessorCount)) {}

  void launch() const {
    CUDA_CHECK(cudaMemsetAsync(c.view().data, 0, m * n * sizeof(float)));
    multiply<<<blocks, dim3(kTile, kTile)>>>(a.view(), b.view(), c.view());
  }
  void check() const {
    lab::expect_close(
        "C", c.download("C"), expected, [&](std::size_t i) { return bounds[i]; }, n);
  }
  double operations() const { return 2.0 * static_cast<double>(m * n) * kDepthOfAll; }

  static constexpr std::size_t kDepthOfAll = 4096;
  std::size_t m, n;
  std::vector<float> host_a, host_b;
  std::vector<double> expected;
  std::vector<double> bounds;
  lab::DeviceMatrix a, b, c;
  unsigned blocks;
};

// Three tiles for two blocks, compared with one for each.
void expect_speed() {
  const auto sms = static_cast<std::size_t>(lab::this_device().multiProcessorCount);
  const TilesOnAllMultiprocessors one_each(1, sms), three_for_two(3, sms / 2);
  one_each.launch();
  one_each.check();
  const double ms = time_launches(11, [&] { one_each.launch(); }).median_ms;
  const lab::Bound bound = {"what it reaches with a tile for each block",
                            one_each.operations() / 1e6 / ms};
  lab::reach(
      {88, bound, three_for_two.operations() / 1e9, "GFLOP/s"}, [&] { three_for_two.launch(); },
      [&] { three_for_two.check(); });
}

}  // namespace

TEST_CASE("C is right, and every block does as many steps as every other") {
  lab::Trials()
      .shapes({{16, 16, 16},
               {16, 16, 128},
               {40, 20, 64},
               {33, 34, 100},
               {5, 7, 3},
               {20, 33, 0},
               {48, 48, 80},
               {lab::drawn(65, 80), lab::drawn(65, 80), lab::drawn(170, 200)},
               {lab::drawn(1, 16), lab::drawn(1, 16), lab::drawn(400, 900)},
               // More than 2^8 steps of a tile, or tiles.
               {lab::drawn(1, 16), lab::drawn(1, 16), lab::drawn(4200, 6000)},
               {lab::drawn(1, 16), lab::drawn(4200, 6000), lab::drawn(1, 16)}})
      .blocks({kTile * kTile})
      .diagnose(
          "steps are left out, or done twice: where does the share of a block end, and where "
          "does that of the next begin?",
          [](const lab::Trial& r) { return r.depth > kTile; })
      .run([](const lab::Trial& at) {
        const lab::RandomProduct product(at);
        const lab::DeviceMatrix d_a(product.a, at.rows, at.depth, 3),
            d_b(product.b, at.depth, at.columns, 0);
        const std::size_t tiles = div_up(at.rows, kTile) * div_up(at.columns, kTile);
        const std::size_t steps = div_up(at.depth, kTile), all = tiles * steps;

        // One block for all tiles, fewer than tiles, more, and more than steps.
        const std::vector<unsigned> of_grids = {1, 3, 2 * lab::drawn(1, 2), lab::drawn(5, 12),
                                                lab::drawn(50, 300)};
        if (all > 256 && !lab::tries_large_sizes()) return;  // in one order of threads
        for (const unsigned blocks : of_grids) {
          const bool takes_its_time = tiles > 16 || (all > 256 && blocks > 1);
          if (takes_its_time && blocks < 5) continue;
          const std::vector<float> zeros(at.rows * at.columns, 0.0f);
          const lab::DeviceMatrix c(zeros, at.rows, at.columns, 2);
          const std::string of =
              " (" + std::to_string(blocks) + (blocks > 1 ? " blocks)" : " block)");
          lab::count(
              [&] {
                multiply<<<blocks, dim3(kTile, kTile)>>>(d_a.view(), d_b.view(), c.view());
                CUDA_CHECK_LAUNCH();
              },
              [&] { product.compare("C" + of, c.download("C")); },
              [&](const auto& seen) {
                const std::size_t slots = 2 * kTile * kTile;  // that a step fills
                lab::at_most("elements of A and B that the busiest warp loads" + of,
                             seen.loads_of_busiest_warp(sizeof(float)),
                             div_up(all, blocks) * slots / (kTile * kTile / 32),
                             "no block does more steps than " +
                                 std::to_string(div_up(all, blocks)) + ": " +
                                 std::to_string(tiles) + " tiles of " + std::to_string(steps) +
                                 ", divided by the blocks");
                lab::at_most("elements that all threads load from memory" + of, seen.loads().lanes,
                             all * slots, "each step is done once");
                // Each ends with its tile, or with the share of its block.
                const std::size_t parts = tiles + std::min<std::size_t>(blocks, all) - 1;
                lab::at_most("atomics, counting a warp's 32 threads as one" + of,
                             seen.atomics().requests, parts * (kTile * kTile / 32),
                             "a block adds to C once for each tile that it has steps of");
              });
        }
      });
  lab::on_a_gpu(expect_speed);
}

TEST_CASE("shares of any number of steps and of blocks follow each other and are even") {
  lab::once([] {
    const unsigned many = lab::drawn(3000000000u, 4000000000u);
    struct Division {
      unsigned all, blocks;
    };
    for (const Division& of :
         {Division{10, 3}, Division{7, 50}, Division{0, 4}, Division{70000, 66000},
          Division{many, 132}, Division{many, lab::drawn(60000, 90000)},
          Division{lab::drawn(100000, 200000), lab::drawn(60000, 90000)}}) {
      const std::string which =
          " of " + std::to_string(of.blocks) + ", of " + std::to_string(of.all) + " steps";
      const std::size_t most = div_up(of.all, of.blocks);
      unsigned begin = begin_of(of.all, of.blocks, 0);
      lab::expect_equal("the first step of block 0" + which, begin, 0u);
      for (unsigned block = 0; block < of.blocks; ++block) {
        const unsigned end = begin_of(of.all, of.blocks, block + 1);
        lab::expect(end >= begin && end - begin <= most, "block " + std::to_string(block) + which,
                    std::to_string(most) + " steps at most, or none",
                    "steps " + std::to_string(begin) + " to before " + std::to_string(end));
        begin = end;
      }
      lab::expect_equal("begin_of(all, blocks, blocks): block " + std::to_string(of.blocks) + which,
                        begin, of.all);
    }
  });
}
