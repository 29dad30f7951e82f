// SPDX-License-Identifier: MIT
// STARTER FAILS: the product is right for matrices of any shape
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/matrices.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

Matrix dense(float* data, std::size_t height, std::size_t width) {
  return {data, static_cast<unsigned>(height), static_cast<unsigned>(width),
          static_cast<unsigned>(width)};
}

}  // namespace

TEST_CASE("the product is right for matrices of any shape") {
  lab::Trials()
      .shapes({{1, 1, 1},
               {8, 8, 5},
               {32, 32, 32},
               {33, 33, 7},
               {64, 64, 64},
               {2, 3, 4},
               {3, 40, 0},
               {3, 2, 4},
               {1, 100, 7},
               {100, 1, 7},
               {37, 53, 29},
               {53, 37, 1},
               {64, 32, 16},
               // Larger than those, in one direction and in all.
               {lab::drawn(65, 100), lab::drawn(65, 100), lab::drawn(5, 40)},
               {lab::drawn(200, 400), lab::drawn(1, 31), lab::drawn(1, 9)},
               {lab::drawn(1, 31), lab::drawn(200, 400), lab::drawn(1, 9)},
               {lab::drawn(1, 9), lab::drawn(1, 9), lab::drawn(300, 700)}})
      .blocks({kBlockX * kBlockY})
      .diagnose("only matrices C that are not square fail: where does a side stand for the other?",
                [](const lab::Trial& r) { return r.rows != r.columns; })
      .run([](const lab::Trial& at) {
        const std::size_t m = at.rows, n = at.columns, k = at.depth;
        const std::vector<float> a = lab::quarters(m * k, 3), b = lab::quarters(k * n, 4);
        const lab::Array<float> d_a(a), d_b(b), d_c(m * n);
        const auto launch = [&] {
          launch_multiply(dense(d_a.get(), m, k), dense(d_b.get(), k, n), dense(d_c.get(), m, n));
        };
        lab::Copied copied;
        lab::count([&] { copied = lab::copied_by(launch, d_a, d_b, d_c); },
                   [&] {
                     lab::expect_close(
                         "c", d_c.download(), multiply_on_host(a, b, m, n, k),
                         [](std::size_t) { return 0; }, n);
                   },
                   [&](const auto& seen) {
                     lab::exactly("blocks along x", seen.grid.x, div_up(n, kBlockX),
                                  "enough to give each column of C a thread, and no more");
                     lab::exactly("blocks along y", seen.grid.y * seen.grid.z, div_up(m, kBlockY),
                                  "enough to give each row of C a thread, and no more");
                     lab::exactly("elements that all threads store together", seen.stores().lanes,
                                  m * n, "each element of C once");
                     lab::exactly("elements that all threads load together", seen.loads().lanes,
                                  2 * m * n * k, "each thread a row of A and a column of B");
                     lab::at_most(
                         "loads, counting a warp's 32 threads as one", seen.loads().requests,
                         2 * k * m * div_up(n, 32),
                         "each element of C has a thread of its own, and 32 of a row make a warp");
                     lab::expect_own_element(seen, k);
                     lab::exactly("bytes of A, B and C that were copied", copied.of_arrays, 0,
                                  "the kernel reads and writes them where they are");
                   });
      });
}

TEST_CASE("sides past 2^16 are right") {
  if (!lab::tries_large_sizes()) return lab::once([] {});
  const std::size_t many = lab::drawn(65600, 66000);
  lab::Trials()
      .shapes({{many, 1, 2}, {1, many, 2}, {2, 1, many}, {1, kBlockX * many, 1}})
      .blocks({256})
      .run([](const lab::Trial& at) {
        const std::size_t m = at.rows, n = at.columns, k = at.depth;
        const std::vector<float> a = lab::quarters(m * k, 3), b = lab::quarters(k * n, 4);
        const lab::Array<float> d_a(a), d_b(b), d_c(m * n);
        const auto exact = [](std::size_t) { return 0; };
        const auto launch = [&] {
          launch_multiply(dense(d_a.get(), m, k), dense(d_b.get(), k, n), dense(d_c.get(), m, n));
        };
        const auto results = [&] {
          lab::expect_close("c", d_c.download(), multiply_on_host(a, b, m, n, k), exact, n);
        };
        if (k > 2) return launch(), results();  // such long walks take long to count
        lab::count_some_blocks(30, launch, results,
                               [&](const auto& seen) { lab::expect_own_element(seen, k); });
      });
}
