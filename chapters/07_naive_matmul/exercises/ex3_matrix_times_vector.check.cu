// SPDX-License-Identifier: MIT
// STARTER FAILS: every element of y is the dot product of its row with x
#include <limits>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// As far as it can be seen in some of the blocks.
template <class Seen>
void expect_shared_rows(const Seen& seen, std::size_t rows, std::size_t columns, unsigned block) {
  const std::size_t turns = div_up(columns, 32);
  lab::exactly("blocks", seen.grid.x, div_up(rows, block / 32),
               "enough to give each row a warp, and no more");
  lab::at_most("elements that one lane loads",
               seen.bytes_loaded_by_busiest_thread() / sizeof(float), 2 * (turns + 1),
               "i = l, l + 32, l + 64, ... for lane l, of its row and of x");
  lab::at_most("shuffles and votes of one lane", seen.exchanges_of_busiest_thread, 10,
               "five add the lanes up: no lane multiplies what another has loaded");
}

// A view of a matrix: NaN after each row.
struct Product {
  std::size_t stride;
  std::vector<float> x, a, expected;

  Product(std::size_t rows, std::size_t columns, std::size_t gap)
      : stride(columns + gap),
        x(lab::quarters(columns, 4)),
        a(rows * stride, std::numeric_limits<float>::quiet_NaN()),
        expected(rows, 0.0f) {
    const std::vector<float> values = lab::quarters(rows * columns, 3);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t row = i / columns, column = i % columns;
      a[row * stride + column] = values[i];
      expected[row] += values[i] * x[column];
    }
  }

  Matrix view(const lab::Array<float>& d_a) const {
    return {d_a.get(), static_cast<unsigned>(expected.size()), static_cast<unsigned>(x.size()),
            static_cast<unsigned>(stride)};
  }
};

}  // namespace

TEST_CASE("every element of y is the dot product of its row with x") {
  lab::Trials()
      .shapes({{1, 32, 0},
               {1, 1, 0},
               {1, 31, 0},
               {1, 33, 0},
               {1, 0, 0},
               {40, 0, 0},
               {2, 64, 0},
               {3, 95, 0},
               {8, 32, 0},
               {9, 257, 0},
               {31, 7, 0},
               {32, 128, 0},
               {33, 50, 0},
               {70, 20, 0},
               // Larger than those, in one direction and in both.
               {lab::drawn(71, 400), lab::drawn(8, 31), 0},
               {lab::drawn(1, 9), lab::drawn(400, 3000), 0},
               {lab::drawn(34, 90), lab::drawn(101, 300), 0}})
      .blocks({32, 64, 256, 1024, 32 * lab::drawn(3, 31)})
      .diagnose(
          "only rows whose length is no multiple of 32 fail: in the last turn some lanes "
          "have no element; what do they do instead?",
          [](const lab::Trial& r) { return r.columns % 32 != 0; })
      .diagnose("one row is right, several are not: which warp has which row?",
                [](const lab::Trial& r) { return r.rows > 1; })
      .diagnose("blocks of one warp are right, larger ones are not: which warp has which row?",
                [](const lab::Trial& r) { return r.block > 32 && r.rows > 1; })
      .run([](const lab::Trial& at) {
        const Product product(at.rows, at.columns, lab::drawn(1, 40));
        const lab::Array<float> d_a(product.a), d_x(product.x), d_y(at.rows);
        const Matrix view = product.view(d_a);
        const std::size_t turns = div_up(at.columns, 32);
        const auto launch = [&] { launch_multiply_vector(view, d_x.get(), d_y.get(), at.block); };
        lab::Copied copied;
        lab::count(
            [&] { copied = lab::copied_by(launch, d_a, d_x, d_y); },
            [&] { lab::expect_equal("y", d_y.download(), product.expected); },
            [&](const auto& seen) {
              expect_shared_rows(seen, at.rows, at.columns, at.block);
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

TEST_CASE("long rows and many rows are right") {
  if (!lab::tries_large_sizes()) return lab::once([] {});
  lab::Trials()
      .shapes({{2, lab::drawn(65600, 66000), 0}, {lab::drawn(65600, 66000), 1, 0}})
      .blocks({32})
      .run([](const lab::Trial& at) {
        const Product product(at.rows, at.columns, 1);
        const lab::Array<float> d_a(product.a), d_x(product.x), d_y(at.rows);
        lab::count_some_blocks(
            30, [&] { launch_multiply_vector(product.view(d_a), d_x.get(), d_y.get(), at.block); },
            [&] { lab::expect_equal("y", d_y.download(), product.expected); },
            [&](const auto& seen) { expect_shared_rows(seen, at.rows, at.columns, at.block); });
      });
}
