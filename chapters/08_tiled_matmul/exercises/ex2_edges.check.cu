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
               "in each step, the last one too, a thread brings one element of A and one of B at "
               "most");
  lab::at_most("loads from memory, counting a warp's 32 threads as one", seen.loads().requests,
               2 * tiles * kTile * kTile / 32, "every thread brings its own two elements");
  lab::at_most("elements that one warp loads", seen.loads_of_busiest_warp(sizeof(float)),
               2 * 32 * steps, "every thread brings its own two elements");
  lab::expect_own_part_of_tiles(seen, kTile, steps);
  lab::exactly("elements that all threads store", seen.stores().lanes, m * n,
               "each element of C once, by its own thread");
  lab::at_most("elements that one warp stores", seen.stores_of_busiest_warp(sizeof(float)), 32,
               "each element of C once, by its own thread");
  lab::at_most("barriers that a thread passes", seen.barriers_of_busiest_block, 2 * steps,
               "two in each step, as in the starter");
}

}  // namespace

TEST_CASE("every element of C is the product of a row of A and a column of B") {
  lab::Trials()
      .shapes({{16, 16, 16},
               {32, 16, 48},
               {16, 16, 20},
               {16, 21, 16},
               {13, 16, 32},
               {1, 1, 1},
               {17, 33, 5},
               {40, 7, 23},
               {20, 33, 0},
               {3, 50, 67},
               {lab::drawn(40, 90), lab::drawn(40, 90), lab::drawn(40, 90)},
               {lab::drawn(1, 9), lab::drawn(1, 9), lab::drawn(260, 3000)},
               {lab::drawn(91, 130), lab::drawn(91, 130), lab::drawn(1, 16)},
               {lab::drawn(91, 130), lab::drawn(1, 16), lab::drawn(91, 130)},
               {lab::drawn(1, 16), lab::drawn(91, 130), lab::drawn(91, 130)}})
      .blocks({kTile * kTile})
      .diagnose("only depths that 16 does not divide fail: the last step of the walk",
                [](const lab::Trial& r) { return r.depth % kTile != 0; })
      .diagnose("only C with an edge inside a tile fails: what do threads without an element do?",
                [](const lab::Trial& r) { return r.rows % kTile != 0 || r.columns % kTile != 0; })
      .diagnose("only shapes that 16 does not divide fail: the tiles at the edges",
                [](const lab::Trial& r) {
                  return r.rows % kTile != 0 || r.columns % kTile != 0 || r.depth % kTile != 0;
                })
      .run([](const lab::Trial& at) {
        const lab::RandomProduct product(at);
        for (const std::size_t gap : {std::size_t{0}, std::size_t{lab::drawn(2, 40)}}) {
          const lab::DeviceMatrix d_a(product.a, at.rows, at.depth, gap);
          const lab::DeviceMatrix d_b(product.b, at.depth, at.columns, gap);
          const lab::DeviceMatrix c(at.rows, at.columns, gap);
          const dim3 grid(static_cast<unsigned>(div_up(at.columns, kTile)),
                          static_cast<unsigned>(div_up(at.rows, kTile)));
          const std::string name =
              gap == 0 ? "C" : "C (rows " + std::to_string(gap) + " elements further apart)";
          lab::count(
              [&] {
                multiply_tiled<<<grid, dim3(kTile, kTile)>>>(d_a.view(), d_b.view(), c.view());
                CUDA_CHECK_LAUNCH();
              },
              [&] { product.compare(name, c.download(name)); },
              [&](const auto& seen) { expect_shared_work(seen, at.rows, at.columns, at.depth); });
        }
      });
}

TEST_CASE("sides past 2^16 are right") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const std::size_t many = lab::drawn(65600, 66000);
    for (const lab::Trials::Shape& shape :
         {lab::Trials::Shape{many, 1, 2}, {1, many, 2}, {1, 1, many}}) {
      const std::vector<float> a(shape.rows * shape.depth, 1), b(shape.depth * shape.columns, 1);
      const lab::DeviceMatrix d_a(a, shape.rows, shape.depth, 0);
      const lab::DeviceMatrix d_b(b, shape.depth, shape.columns, 0);
      const lab::DeviceMatrix c(shape.rows, shape.columns, 0);
      const dim3 grid(static_cast<unsigned>(div_up(shape.columns, kTile)),
                      static_cast<unsigned>(div_up(shape.rows, kTile)));
      const auto launch = [&] {
        multiply_tiled<<<grid, dim3(kTile, kTile)>>>(d_a.view(), d_b.view(), c.view());
        CUDA_CHECK_LAUNCH();
      };
      launch();
      // Sums of ones are exact in any order.
      const auto sum = static_cast<float>(shape.depth);
      lab::expect_equal("C of " + std::to_string(shape.rows) + " x " +
                            std::to_string(shape.columns) + ", depth " +
                            std::to_string(shape.depth) + ": elements",
                        c.download("C"), std::vector<float>(shape.rows * shape.columns, sum));
      if (shape.depth > 2) continue;  // of long walks that is counted above
      lab::count_first_block(launch, [&](const auto& seen) {
        expect_shared_work(seen, std::min<std::size_t>(shape.rows, kTile),
                           std::min<std::size_t>(shape.columns, kTile), shape.depth);
      });
    }
  });
}
