// SPDX-License-Identifier: MIT
// STARTER FAILS: C is right, and one commit group stays in flight
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/matrices.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("C is right, and one commit group stays in flight") {
  lab::Trials()
      .shapes({{16, 16, 16},
               {16, 16, 64},
               {5, 40, 7},
               {20, 33, 0},
               {21, 37, 100},
               {33, 20, 33},
               {2, 3, 150},
               {lab::drawn(40, 90), lab::drawn(40, 90), lab::drawn(40, 90)},
               {lab::drawn(1, 9), lab::drawn(1, 9), lab::drawn(260, 1600)}})
      .blocks({kTile * kTile})
      .diagnose(
          "one step is right, several are not: who has waited for whose copies when a thread reads "
          "a tile that all threads have filled?",
          [](const lab::Trial& r) { return r.depth > kTile; })
      .run([](const lab::Trial& at) {
        const lab::RandomProduct product(at);
        const lab::DeviceMatrix d_a(product.a, at.rows, at.depth, 3),
            d_b(product.b, at.depth, at.columns, 0);
        const lab::DeviceMatrix c(at.rows, at.columns, 0);
        const dim3 grid(static_cast<unsigned>(div_up(at.columns, kTile)),
                        static_cast<unsigned>(div_up(at.rows, kTile)));
        const std::size_t blocks = std::size_t{grid.x} * grid.y, steps = div_up(at.depth, kTile);
        std::uint64_t last_copies = 0;
        lab::count(
            [&] {
              last_copies = lab::last_copies_waited_for([&] {
                multiply<<<grid, dim3(kTile, kTile)>>>(d_a.view(), d_b.view(), c.view());
                CUDA_CHECK_LAUNCH();
              });
            },
            [&] { product.compare("C", c.download("C")); },
            [&](const auto& seen) {
              lab::exactly("elements of C that are stored", seen.stores().lanes,
                           at.rows * at.columns, "each once, when its sum is complete");
              lab::at_most("barriers that a thread passes", seen.barriers_of_busiest_block, steps,
                           "one in each step is enough with three pairs of tiles");
              lab::exactly("atomics", seen.atomics().requests + seen.shared_atomics().requests, 0,
                           "threads wait for each other at the barriers alone");
              // Of the last step, a thread's element of each tile.
              lab::at_most("copies that are waited for when no later one is under way", last_copies,
                           2 * blocks * kTile * kTile,
                           "the copies of the next step are not needed yet");
              lab::at_most("requests that store to shared memory", seen.shared_stores().requests,
                           2 * blocks * steps * kTile * kTile / 32,
                           "only the asynchronous copies fill the tiles");
            });
      });
}

TEST_CASE("a depth past 2^16 is right") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const std::size_t depth = lab::drawn(65600, 66000);
    const std::vector<float> ones(depth, 1.0f);  // their sum is exact in any order
    const lab::DeviceMatrix a(ones, 1, depth, 0), b(ones, depth, 1, 0), c(1, 1, 0);
    multiply<<<1, dim3(kTile, kTile)>>>(a.view(), b.view(), c.view());
    CUDA_CHECK_LAUNCH();
    lab::expect_equal("C of depth " + std::to_string(depth), c.download("C")[0],
                      static_cast<float>(depth));
  });
}
