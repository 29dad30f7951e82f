// SPDX-License-Identifier: MIT
// STARTER FAILS: C is right for any number of parts, and the parts are even
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/matrices.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("C is right for any number of parts, and the parts are even") {
  lab::Trials()
      .shapes({{16, 16, 64},
               {16, 16, 144},
               {5, 7, 3},
               {20, 33, 0},
               {20, 33, 100},
               {3, 2, 1000},
               {lab::drawn(1, 40), lab::drawn(1, 40), lab::drawn(170, 300)},
               {lab::drawn(1, 16), lab::drawn(1, 16), lab::drawn(700, 1500)},
               {lab::drawn(1, 4), lab::drawn(1, 4), lab::drawn(4200, 6000)}})  // past 2^8 steps
      .blocks({kTile * kTile})
      .run([](const lab::Trial& at) {
        if (at.depth > 4000 && !lab::tries_large_sizes()) return;  // in one order of threads
        const lab::RandomProduct product(at);
        const lab::DeviceMatrix d_a(product.a, at.rows, at.depth, 3),
            d_b(product.b, at.depth, at.columns, 0);
        const dim3 block(kTile, kTile);
        const std::size_t tiles = div_up(at.rows, kTile) * div_up(at.columns, kTile);
        const std::size_t steps = div_up(at.depth, kTile);
        for (const unsigned parts : {1u, 2u, 4u, lab::drawn(5, 9), lab::drawn(100, 120)}) {
          const lab::DeviceMatrix c(at.rows, at.columns, 2);
          const lab::Array<float> sums(
              std::vector<float>(parts * at.rows * at.columns, std::nanf("")));
          const dim3 grid(blocks_for(at.columns, kTile), blocks_for(at.rows, kTile), parts);
          const std::string of = " (" + std::to_string(parts) + (parts > 1 ? " parts)" : " part)");
          lab::count_all(
              [&] {
                multiply_part<<<grid, block>>>(d_a.view(), d_b.view(), sums.get());
                CUDA_CHECK_LAUNCH();
                add_parts<<<dim3(grid.x, grid.y), block>>>(sums.get(), parts, c.view());
                CUDA_CHECK_LAUNCH();
              },
              [&] { product.compare("C" + of, c.download("C")); },
              [&](const auto& seen) {
                const std::size_t most = div_up(steps, parts);
                const std::string which = std::to_string(steps) + " steps in " +
                                          std::to_string(parts) + " parts: at most " +
                                          std::to_string(most) + " in each";
                lab::at_most("elements of A and B that the busiest warp loads" + of,
                             seen[0].loads_of_busiest_warp(sizeof(float)), most * 64, which);
                lab::at_most("barriers that a thread passes" + of,
                             seen[0].barriers_of_busiest_block, 2 * most, which);
                lab::at_most("elements that all threads load" + of, seen[0].loads().lanes,
                             2 * tiles * steps * kTile * kTile, "each step is done once");
                lab::exactly("elements of sums that are stored" + of, seen[0].stores().lanes,
                             parts * at.rows * at.columns, "a sum for each element of each part");
              });
        }
      });
}
