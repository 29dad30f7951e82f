// SPDX-License-Identifier: MIT
// STARTER FAILS: every element of C is the product of a row of A and a row of B
#include "tests/lab_matrices.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every element of C is the product of a row of A and a row of B") {
  lab::Trials()
      .shapes({{8, 8, 8},
               {32, 32, 32},
               {1, 1, 1},
               {32, 32, 64},
               {16, 64, 32},
               {40, 9, 33},
               {7, 50, 20},
               {33, 34, 65}})
      .blocks({8 * 8, 16 * 16, 32 * 32})
      .diagnose(
          "one step of the walk is right, several are not: where does the next tile begin, "
          "and who may still be reading the last one?",
          [](const lab::Trial& r) { return r.depth * r.depth > r.block; })
      .run([](const lab::Trial& at) {
        const std::vector<float> a = random_floats(at.rows * at.depth, -1, 1, 5);
        const std::vector<float> b = random_floats(at.columns * at.depth, -1, 1, 6);
        std::vector<float> columns_of_b(b.size());
        for (std::size_t i = 0; i < b.size(); ++i)
          columns_of_b[i % at.depth * at.columns + i / at.depth] = b[i];
        const std::vector<double> expected =
            multiply_on_host(a, columns_of_b, at.rows, at.columns, at.depth);
        const DotProductBound tolerance(a, columns_of_b, at.rows, at.columns, at.depth);

        const unsigned tile = at.block == 64 ? 8 : at.block == 256 ? 16 : 32;
        for (const std::size_t gap : {0, 3}) {
          const lab::DeviceMatrix d_a(a, at.rows, at.depth, gap), d_b(b, at.columns, at.depth, gap);
          const lab::DeviceMatrix c(at.rows, at.columns, gap);
          launch_multiply_rows(d_a.view(), d_b.view(), c.view(), tile);
          const std::string name = gap == 0 ? "C" : "C (rows 3 elements further apart)";
          lab::expect_close(name, c.download(name), expected, tolerance, at.columns);
        }
      });
}
