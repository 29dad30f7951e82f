// SPDX-License-Identifier: MIT
// STARTER FAILS: every row has the largest of its window, without local memory
#include <climits>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// `rows` rows of `columns` ints each, any that there are.
std::vector<int> any_ints(std::size_t columns, int rows) {
  return random_ints(columns * static_cast<std::size_t>(rows), INT_MIN, INT_MAX, 7 + columns);
}

std::vector<int> largest_on_host(const std::vector<int>& x, std::size_t columns, int rows,
                                 int window) {
  std::vector<int> largest(x.size(), INT_MIN);
  for (int k = 0; k < rows; ++k) {
    for (int from = std::max(0, k - window + 1); from <= k; ++from) {
      for (std::size_t i = 0; i < columns; ++i) {
        int& of_row = largest[static_cast<std::size_t>(k) * columns + i];
        of_row = std::max(of_row, x[static_cast<std::size_t>(from) * columns + i]);
      }
    }
  }
  return largest;
}

std::string name_of(int rows, int window) {
  return "y of " + std::to_string(rows) + " rows, window " + std::to_string(window);
}

}  // namespace

TEST_CASE("every row has the largest of its window, without local memory") {
  // Every window, of few rows and of many.
  for (const int window : lab::shuffled<int>({1, 2, 3, 4, 5, 6, 7, 8})) {
    for (const unsigned rows_of_run : {lab::drawn(1, 8), lab::drawn(9, 60)}) {
      const auto rows = static_cast<int>(rows_of_run);
      lab::Trials()
          .sizes({33, lab::drawn(200, 500), 1, 0})
          .blocks({32, 32 * lab::drawn(2, 8)})
          .inputs({lab::Input::kRandom})
          .run([&](const lab::Trial& at) {
            const std::vector<int> x = any_ints(at.n, rows);
            const std::vector<int> expected = largest_on_host(x, at.n, rows, window);

            const lab::Array<int> d_x(x), y(x.size());
            const auto blocks =
                static_cast<unsigned>(std::max<std::size_t>(1, div_up(at.n, at.block)));
            lab::count(
                [&] {
                  largest_of_window<<<blocks, at.block>>>(d_x.get(), at.n, rows, window, y.get());
                  CUDA_CHECK_LAUNCH();
                },
                [&] { lab::expect_equal(name_of(rows, window), y.download(), expected); },
                [&](const auto& seen) {
                  lab::exactly("requests to local memory", seen.local().requests, 0,
                               "an array with an index known only at run time lies there");
                  lab::exactly("lanes that load from x", seen.loads().lanes, x.size(),
                               "each value is loaded once");
                  lab::exactly("lanes that store to y", seen.stores().lanes, x.size(),
                               "each result is stored once");
                  lab::exactly("requests to shared memory", seen.shared().requests, 0,
                               "a few values fit into registers");
                });
          });
    }
  }
}

TEST_CASE("more than 2^16 columns, or rows, are right") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const unsigned many = lab::drawn(66000, 70000);
    for (const bool wide : {true, false}) {
      const std::size_t columns = wide ? many : 3;
      const int rows = wide ? 3 : static_cast<int>(many), window = wide ? 2 : 5;
      const std::vector<int> x = any_ints(columns, rows);
      const lab::Array<int> d_x(x), y(x.size());
      largest_of_window<<<static_cast<unsigned>(div_up(columns, 256)), 256>>>(
          d_x.get(), columns, rows, window, y.get());
      CUDA_CHECK_LAUNCH();
      lab::expect_equal(name_of(rows, window) + ", " + std::to_string(columns) + " columns",
                        y.download(), largest_on_host(x, columns, rows, window));
    }
  });
}
