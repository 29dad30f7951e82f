// SPDX-License-Identifier: MIT
// STARTER FAILS: C is right, and a warp asks shared memory twice at each l
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/matrices.cuh"
// the learner's file:
#include LAB_FILE

// What each thread does, as far as it can be seen in some of the blocks.
template <class Seen>
void expect_own_elements(const Seen& seen, std::size_t steps) {
  lab::at_most("reads of shared memory and shuffles of one thread", seen.steps_of_busiest_thread(),
               2 * steps * kDepth, "at each l one of A's slice and one of B's");
  lab::at_most("elements of C that one thread stores",
               seen.bytes_stored_by_busiest_thread() / sizeof(float), kEach * kEach,
               "each thread computes 4 x 4 elements");
  lab::exactly("requests to local memory", seen.local().requests, 0,
               "sums and factors of a thread are in registers");
  lab::at_most("barriers that a thread passes", seen.barriers_of_busiest_block, 2 * steps,
               "two in each step");
}

TEST_CASE("C is right, and a warp asks shared memory twice at each l") {
  lab::Trials()
      .shapes({{64, 64, 16},
               {64, 64, 48},
               {3, 4, 1},
               {70, 68, 0},
               {65, 68, 17},
               {70, 132, 20},
               {130, 60, 33},
               {lab::drawn(65, 200), 4 * lab::drawn(17, 50), lab::drawn(34, 90)},
               {lab::drawn(1, 64), 4 * lab::drawn(51, 200), lab::drawn(1, 33)},
               {lab::drawn(201, 800), 4 * lab::drawn(1, 16), lab::drawn(1, 33)},
               {lab::drawn(1, 64), 4 * lab::drawn(1, 16), lab::drawn(91, 600)}})
      .blocks({kSide * kSide})
      .run([](const lab::Trial& at) {
        const bool is_large = at.rows > 200 || at.columns > 200 || at.depth > 90;
        if (is_large && !lab::tries_large_sizes()) return;  // in one order of threads
        const lab::RandomProduct product(at);
        const std::size_t gap = at.columns % 3 == 0 ? 0 : 4;
        const lab::DeviceMatrix d_a(product.a, at.rows, at.depth, 3),
            d_b(product.b, at.depth, at.columns, gap);
        const lab::DeviceMatrix c(at.rows, at.columns, gap);
        const dim3 grid(static_cast<unsigned>(div_up(at.columns, kTile)),
                        static_cast<unsigned>(div_up(at.rows, kTile)));
        const std::size_t blocks = std::size_t{grid.x} * grid.y;
        const std::size_t warps = blocks * kSide * kSide / 32, steps = div_up(at.depth, kDepth);
        lab::count(
            [&] {
              multiply<<<grid, dim3(kSide, kSide)>>>(d_a.view(), d_b.view(), c.view());
              CUDA_CHECK_LAUNCH();
            },
            [&] { product.compare("C", c.download("C")); },
            [&](const auto& seen) {
              lab::at_most("reads of shared memory, counting a warp's 32 threads as one",
                           seen.shared_loads().requests, 2 * warps * steps * kDepth,
                           "at each l one of A's slice and one of B's, 16 bytes per thread");
              lab::at_most("wavefronts of these reads", seen.shared_loads().wavefronts,
                           6 * warps * steps * kDepth,
                           "two for A, where a row of threads wants the same, and four for B");
              lab::at_most("elements that all threads load from memory", seen.loads().lanes,
                           2 * blocks * steps * kTile * kDepth, "only bring() loads A and B");
              lab::at_most("stores to shared memory, counting a warp's 32 threads as one",
                           seen.shared_stores().requests, 8 * warps * steps,
                           "only bring() fills the slices");
              expect_own_elements(seen, steps);
            });
      });
}

TEST_CASE("a depth past 2^16 is right") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const std::size_t depth = lab::drawn(65600, 66000);
    const std::vector<float> ones(4 * depth, 1.0f);  // their sum is exact in any order
    const std::vector<float> row(depth, 1.0f);
    const lab::DeviceMatrix a(row, 1, depth, 0), b(ones, depth, 4, 0), c(1, 4, 0);
    multiply<<<1, dim3(kSide, kSide)>>>(a.view(), b.view(), c.view());
    CUDA_CHECK_LAUNCH();
    lab::expect_equal("C of depth " + std::to_string(depth) + ": element", c.download("C"),
                      std::vector<float>(4, static_cast<float>(depth)));
  });
}

TEST_CASE("more than 2^16 rows, or columns, are right") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const std::size_t many = 4 * lab::drawn(16400, 16900);
    for (const bool is_wide : {true, false}) {
      const std::size_t m = is_wide ? 1 : many, n = is_wide ? many : 4;
      const std::vector<float> column = random_floats(m, -1, 1, 5),
                               row = random_floats(n, -1, 1, 6);
      std::vector<float> expected;  // each of them one product
      for (const float factor : column) {
        for (const float of_row : row) expected.push_back(factor * of_row);
      }
      const lab::DeviceMatrix a(column, m, 1, 0), b(row, 1, n, 0), c(m, n, 0);
      const dim3 grid(static_cast<unsigned>(div_up(n, kTile)),
                      static_cast<unsigned>(div_up(m, kTile)));
      lab::count_some_blocks(
          30,
          [&] {
            multiply<<<grid, dim3(kSide, kSide)>>>(a.view(), b.view(), c.view());
            CUDA_CHECK_LAUNCH();
          },
          [&] {
            lab::expect_equal("C of " + std::to_string(m) + " x " + std::to_string(n) + ": element",
                              c.download("C"), expected);
          },
          [&](const auto& seen) { expect_own_elements(seen, 1); });
    }
  });
}
