// SPDX-License-Identifier: MIT
// STARTER FAILS: every element of C is the product of a row of A and a column of B
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/matrices.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// What the launch may ask for: C is m x n, the walk is k deep.
template <class Seen>
void expect_shared_work(const Seen& seen, std::size_t m, std::size_t n, std::size_t k) {
  const std::size_t steps = div_up(k, kTile), tiles = div_up(m, kTile) * div_up(n, kTile) * steps;
  lab::at_most("elements that all threads load from memory", seen.loads().lanes,
               2 * tiles * kTile * kTile,
               "in each step a thread brings one element of A and one of B, for all others of its "
               "block");
  lab::at_most("loads from memory, counting a warp's 32 threads as one", seen.loads().requests,
               2 * tiles * kTile * kTile / 32, "every thread brings its own two elements");
  lab::at_most("elements that one warp loads", seen.loads_of_busiest_warp(sizeof(float)),
               2 * 32 * steps, "every thread brings its own two elements");
  lab::expect_own_part_of_tiles(seen, kTile, steps);
  lab::exactly("elements of C that are stored", seen.stores().lanes, m * n,
               "each once, when its sum is complete");
  lab::at_most("barriers that a thread passes", seen.barriers_of_busiest_block, 2 * steps,
               "two in each step: one before the tiles are read, one before they are overwritten");
}

}  // namespace

TEST_CASE("every element of C is the product of a row of A and a column of B") {
  lab::Trials()
      .shapes({{16, 16, 16},
               {5, 40, 7},
               {33, 20, 17},
               {16, 16, 48},
               {21, 37, 100},
               {2, 3, 257},
               {20, 33, 0},
               {lab::drawn(40, 90), lab::drawn(40, 90), lab::drawn(40, 90)},
               {lab::drawn(1, 9), lab::drawn(1, 9), lab::drawn(260, 3000)},
               {lab::drawn(91, 160), lab::drawn(91, 160), lab::drawn(17, 32)},
               {lab::drawn(1, 9), lab::drawn(300, 700), lab::drawn(17, 32)},
               {lab::drawn(300, 700), lab::drawn(1, 9), lab::drawn(17, 32)}})
      .blocks({kTile * kTile})
      .diagnose(
          "one step of the walk is right, several are not: what may a fast thread do to the tiles "
          "while a slow one still reads them?",
          [](const lab::Trial& r) { return r.depth > kTile; })
      .run([](const lab::Trial& at) {
        const lab::RandomProduct product(at);
        const lab::DeviceMatrix d_a(product.a, at.rows, at.depth, 0),
            d_b(product.b, at.depth, at.columns, 0);
        const lab::DeviceMatrix c(at.rows, at.columns, 0);
        const dim3 grid(static_cast<unsigned>(div_up(at.columns, kTile)),
                        static_cast<unsigned>(div_up(at.rows, kTile)));
        lab::count(
            [&] {
              multiply_tiled<<<grid, dim3(kTile, kTile)>>>(d_a.view(), d_b.view(), c.view());
              CUDA_CHECK_LAUNCH();
            },
            [&] { product.compare("C", c.download("C")); },
            [&](const auto& seen) { expect_shared_work(seen, at.rows, at.columns, at.depth); });
      });
}

TEST_CASE("a depth past 2^16 is right") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const std::size_t depth = lab::drawn(65600, 66000);
    const std::vector<float> ones(depth, 1.0f);  // their sum is exact in any order
    const lab::DeviceMatrix a(ones, 1, depth, 0), b(ones, depth, 1, 0), c(1, 1, 0);
    multiply_tiled<<<1, dim3(kTile, kTile)>>>(a.view(), b.view(), c.view());
    CUDA_CHECK_LAUNCH();
    lab::expect_equal("C of depth " + std::to_string(depth), c.download("C")[0],
                      static_cast<float>(depth));
  });
}
