// SPDX-License-Identifier: MIT
// STARTER FAILS: every element of y is the dot product of its row with x
#include <limits>

#include "common/labs/counts.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// Whole numbers from -9 to 9: float sums of their products are exact.
std::vector<float> whole_numbers(std::size_t count, std::uint64_t seed) {
  const std::vector<int> values = random_ints(count, -9, 9, seed);
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("every element of y is the dot product of its row with x") {
  lab::Trials()
      .shapes({{1, 32, 0},
               {1, 1, 0},
               {1, 31, 0},
               {1, 33, 0},
               {2, 64, 0},
               {3, 95, 0},
               {8, 32, 0},
               {9, 257, 0},
               {31, 7, 0},
               {32, 128, 0},
               {33, 50, 0},
               {70, 20, 0}})
      .blocks({32, 64, 256, 1024})
      .diagnose(
          "only rows whose length is no multiple of 32 fail: in the last turn some lanes "
          "have no element; what do they do instead?",
          [](const lab::Trial& r) { return r.columns % 32 != 0; })
      .diagnose("one row is right, several are not: which warp has which row?",
                [](const lab::Trial& r) { return r.rows > 1; })
      .diagnose("blocks of one warp are right, larger ones are not: which warp has which row?",
                [](const lab::Trial& r) { return r.block > 32 && r.rows > 1; })
      .run([](const lab::Trial& at) {
        const std::size_t stride = at.columns + 5;  // a view: NaN after each row
        const std::vector<float> values = whole_numbers(at.rows * at.columns, 3);
        const std::vector<float> x = whole_numbers(at.columns, 4);
        std::vector<float> a(at.rows * stride, std::numeric_limits<float>::quiet_NaN());
        std::vector<float> expected(at.rows, 0.0f);
        for (std::size_t i = 0; i < values.size(); ++i) {
          const std::size_t row = i / at.columns, column = i % at.columns;
          a[row * stride + column] = values[i];
          expected[row] += values[i] * x[column];
        }

        const lab::Array<float> d_a(a), d_x(x), d_y(at.rows);
        const Matrix view{d_a.get(), static_cast<unsigned>(at.rows),
                          static_cast<unsigned>(at.columns), static_cast<unsigned>(stride)};
        const std::size_t turns = div_up(at.columns, 32);
        const auto launch = [&] { launch_multiply_vector(view, d_x.get(), d_y.get(), at.block); };
        lab::Copied copied;
        lab::count(
            [&] { copied = lab::copied_by(launch, d_a, d_x, d_y); },
            [&] { lab::expect_equal("y", d_y.download(), expected); },
            [&](const auto& seen) {
              lab::exactly("blocks", seen.grid.x, div_up(at.rows, at.block / 32),
                           "as few as have a warp for each row");
              lab::exactly("elements that all lanes load together", seen.loads().lanes,
                           2 * at.rows * at.columns,
                           "the lanes of a warp share a row: each element of it is loaded by one "
                           "of them, and so is its partner in x");
              lab::at_most("loads, counting a warp's 32 lanes as one", seen.loads().requests,
                           2 * at.rows * (turns + 1),
                           "32 lanes load 32 elements at once: two requests for each 32 elements "
                           "of a row, and two to spare");
              lab::at_most(
                  "sectors of these loads", seen.loads().sectors, 9 * at.rows * (turns + 1),
                  "32 neighbours in a row lie in 5 sectors at most, 32 neighbours in x in 4");
              lab::exactly("requests to shared memory", seen.shared().requests, 0,
                           "registers reach other lanes by shuffles");
              lab::exactly("atomics", seen.atomics().requests, 0,
                           "registers reach other lanes by shuffles");
              lab::exactly("lanes that store a sum", seen.stores().lanes, at.rows,
                           "one of each warp with a row");
              lab::exactly("bytes of A, x and y that were copied", copied.of_arrays, 0,
                           "the kernel reads and writes them where they are");
            });
      });
}
