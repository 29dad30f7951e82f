// SPDX-License-Identifier: MIT
// STARTER FAILS: a part is a view of the elements where they are
#include <cmath>
#include <limits>
#include <memory>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/matrices.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// A matrix on the device, and a view of a part of it. Everything around the part is NaN.
struct Embedded {
  Embedded(std::size_t height, std::size_t width, unsigned above, unsigned left, unsigned right,
           std::uint64_t seed)
      : rows(height + above + 1), columns(width + left + right), values(height * width) {
    // Multiples of 1/4: float sums of their products are exact.
    const std::vector<int> random = random_ints(height * width, -9, 9, seed);
    std::vector<float> all(rows * columns, std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i < random.size(); ++i) {
      values[i] = static_cast<float>(random[i]) / 4;
      all[(above + i / width) * columns + left + i % width] = values[i];
    }
    data = std::make_unique<lab::Array<float>>(all);
    whole = {data->get(), static_cast<unsigned>(rows), static_cast<unsigned>(columns),
             static_cast<unsigned>(columns)};
    view = {data->get() + above * columns + left, static_cast<unsigned>(height),
            static_cast<unsigned>(width), static_cast<unsigned>(columns)};
  }

  std::size_t rows, columns;
  std::vector<float> values;  // of the part, dense
  std::unique_ptr<lab::Array<float>> data;
  Matrix whole{}, view{};
};

}  // namespace

TEST_CASE("a part is a view of the elements where they are") {
  lab::once([] {
    // Nobody looks at the elements, so there need not be any.
    float* const data = reinterpret_cast<float*>(std::uintptr_t{1} << 32);
    const auto check = [&](const char* what, const Matrix& part, std::ptrdiff_t offset,
                           unsigned height, unsigned width, unsigned stride) {
      const std::string name = what;
      lab::expect_equal(name + ": data - whole.data", part.data - data, offset);
      lab::expect_equal(name + ": height", part.height, height);
      lab::expect_equal(name + ": width", part.width, width);
      lab::expect_equal(name + ": stride", part.stride, stride);
    };
    const Matrix whole{data, 10, 20, 20};
    check("all of a 10 x 20 matrix", part_of(whole, 0, 0, 10, 20), 0, 10, 20, 20);
    check("rows 3 to 5 of a 10 x 20 matrix", part_of(whole, 3, 0, 3, 20), 60, 3, 20, 20);
    const Matrix part = part_of(whole, 2, 5, 7, 4);
    check("7 x 4 elements from (2, 5) of a 10 x 20 matrix", part, 45, 7, 4, 20);
    check("a part of that part, from (3, 1)", part_of(part, 3, 1, 2, 3), 106, 2, 3, 20);
    const Matrix large{data, 100000, 100000, 100000};
    check("one element at (99999, 99998) of a 100000 x 100000 matrix",
          part_of(large, 99999, 99998, 1, 1), 9999999998, 1, 1, 100000);
    const Matrix small{data, 5, 12, 12};
    const Matrix strip = part_of(small, 1, 2, 4, 9);
    check("after that, 4 x 9 elements from (1, 2) of a 5 x 12 matrix", strip, 14, 4, 9, 12);
    check("a part of that part, from (2, 3)", part_of(strip, 2, 3, 1, 2), 41, 1, 2, 12);
  });
}

TEST_CASE("the product of parts is right, and nothing around C is touched") {
  lab::Trials()
      .shapes({{1, 1, 1},
               {1, 5, 7},
               {5, 3, 1},
               {2, 3, 4},
               {3, 40, 0},
               {16, 16, 16},
               {32, 8, 16},
               {33, 9, 7},
               {9, 40, 33},
               // Larger than those, in one direction and in all.
               {lab::drawn(41, 80), lab::drawn(41, 80), lab::drawn(5, 40)},
               {lab::drawn(200, 400), lab::drawn(1, 31), lab::drawn(1, 9)},
               {lab::drawn(1, 31), lab::drawn(200, 400), lab::drawn(1, 9)},
               {lab::drawn(1, 9), lab::drawn(1, 9), lab::drawn(300, 700)}})
      .blocks({256})
      .diagnose(
          "one row of C is right, more are not: how far is it from a row of A, or of C, to "
          "the next?",
          [](const lab::Trial& r) { return r.rows > 1; })
      .diagnose("a depth of 1 is right, more is not: how far is it from a row of B to the next?",
                [](const lab::Trial& r) { return r.depth > 1; })
      .diagnose("only single rows are right: how far is it from one row to the next?",
                [](const lab::Trial& r) { return r.rows > 1 || r.depth > 1; })
      .run([](const lab::Trial& at) {
        const std::size_t m = at.rows, n = at.columns, k = at.depth;
        struct Way {
          const char* name;
          unsigned above, left, right;
        };
        for (const Way w :
             {Way{"whole rows", 0, 0, 0}, Way{"parts", 2, 3, 4},
              Way{"other parts", lab::drawn(1, 9), lab::drawn(4, 20), lab::drawn(5, 20)}}) {
          const Embedded a(m, k, w.above, w.left, w.right, 3);
          const Embedded b(k, n, w.above + 1, w.left, w.right * 2, 4);
          const Embedded c(m, n, w.above, w.left * 2, w.right, 5);
          const auto compare = [&] {
            const std::vector<double> product = multiply_on_host(a.values, b.values, m, n, k);
            const std::vector<float> got = c.data->download();
            std::vector<float> inside;
            for (std::size_t i = 0; i < got.size(); ++i) {
              const std::size_t row = i / c.columns - w.above, column = i % c.columns - w.left * 2;
              if (i / c.columns >= w.above && row < m && column < n) {
                inside.push_back(got[i]);
              } else {
                lab::expect(std::isnan(got[i]),
                            std::string(w.name) + ": an element outside of C, (" +
                                std::to_string(i / c.columns) + ", " +
                                std::to_string(i % c.columns) + ") of what C is a part of",
                            "untouched", lab::text_of(got[i]));
              }
            }
            lab::expect_close(
                std::string(w.name) + ": c", inside, product, [](std::size_t) { return 0; }, n);
          };
          const std::string way = w.name;
          const auto launch = [&] { launch_multiply(a.view, b.view, c.view); };
          lab::Copied copied;
          lab::count(
              [&] { copied = lab::copied_by(launch, *a.data, *b.data, *c.data); }, compare,
              [&](const auto& seen) {
                lab::exactly(way + ": elements that all threads store together",
                             seen.stores().lanes, m * n, "each element of C once");
                lab::exactly(way + ": elements that all threads load together", seen.loads().lanes,
                             2 * m * n * k,
                             "each thread a row of A and a column of B, and nothing around them");
                lab::at_most(
                    way + ": loads, counting a warp's 32 threads as one", seen.loads().requests,
                    2 * k * m * div_up(n, 32),
                    "each element of C has a thread of its own, and 32 of a row make a warp");
                lab::expect_own_element(seen, k);
                lab::exactly(way + ": bytes of A, B and C that were copied", copied.of_arrays, 0,
                             "the kernel reads and writes them where they are");
              });
        }
      });
}

TEST_CASE("sides past 2^16 are right") {
  if (!lab::tries_large_sizes()) return lab::once([] {});
  const std::size_t many = lab::drawn(65600, 66000);
  lab::Trials()
      .shapes({{many, 1, 2}, {1, many, 2}, {2, 1, many}})
      .blocks({256})
      .run([](const lab::Trial& at) {
        const std::size_t m = at.rows, n = at.columns, k = at.depth;
        const Embedded a(m, k, 1, 1, 1, 3), b(k, n, 1, 1, 1, 4), c(m, n, 0, 0, 0, 5);
        const auto exact = [](std::size_t) { return 0; };
        const auto launch = [&] { launch_multiply(a.view, b.view, c.view); };
        const auto results = [&] {
          std::vector<float> got = c.data->download();
          got.resize(m * n);
          lab::expect_close("c", got, multiply_on_host(a.values, b.values, m, n, k), exact, n);
        };
        if (k > 2) return launch(), results();  // such long walks take long to count
        lab::count_some_blocks(30, launch, results,
                               [&](const auto& seen) { lab::expect_own_element(seen, k); });
      });
}
