// SPDX-License-Identifier: MIT
// STARTER FAILS: every element of y is the dot product of its row with x
#include <limits>

#include "tests/lab_testing.cuh"
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
        launch_multiply_vector(view, d_x.get(), d_y.get(), at.block);
        lab::expect_equal("y", d_y.download(), expected);
      });
}
