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

// What the kernel asks of memory.
const auto expect_registers = [](const auto& seen, std::size_t columns, int rows) {
  const std::size_t loads_of_warp = static_cast<std::size_t>(rows),
                    values = columns * loads_of_warp;
  lab::exactly("requests to local memory", seen.local().requests, 0,
               "an array with an index known only at run time lies there");
  lab::exactly("lanes that load from x", seen.loads().lanes, values, "each value is loaded once");
  lab::at_most("requests of warps to load", seen.loads().requests,
               loads_of_warp * div_up(columns, 32), "the lanes of a warp load a row together");
  lab::at_most("lanes of the busiest warp that load", seen.loads_of_busiest_warp(sizeof(int)),
               32 * loads_of_warp, "a thread has one column");
  lab::at_most("values that one thread loads", seen.bytes_loaded_by_busiest_thread() / sizeof(int),
               loads_of_warp, "a thread has one column");
  lab::exactly("lanes that store to y", seen.stores().lanes, values, "each result is stored once");
  lab::expect_nothing_handed_over(seen);
};

bool small_ones_are_right = true;  // in all tries of the first test case

}  // namespace

TEST_CASE("every row has the largest of its window, without local memory") {
  // Every window, of few rows and of many, and one of more than those.
  const int of_most_rows = static_cast<int>(lab::drawn(2, 8));
  const unsigned most_rows = lab::drawn(61, 1000);
  for (const int window : lab::shuffled<int>({1, 2, 3, 4, 5, 6, 7, 8})) {
    std::vector<unsigned> runs = {lab::drawn(1, 8), lab::drawn(9, 60)};
    if (window == of_most_rows && lab::tries_large_sizes()) runs.push_back(most_rows);
    for (const unsigned rows_of_run : runs) {
      const auto rows = static_cast<int>(rows_of_run);
      lab::Trials()
          .sizes(rows_of_run > 60 ? std::vector<std::size_t>{33, 1}
                                  : std::vector<std::size_t>{33, lab::drawn(200, 600), 1, 0})
          .blocks({rows_of_run > 60 ? 32 : 32 * lab::drawn(1, 8)})
          .inputs({lab::Input::kRandom})
          .run([&](const lab::Trial& at) {
            const bool were_right = small_ones_are_right;
            small_ones_are_right = false;  // until this try has come to its end
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
                [&](const auto& seen) { expect_registers(seen, at.n, rows); });
            small_ones_are_right = were_right;
          });
    }
  }
}

TEST_CASE("more than 2^16 columns, or rows, are right") {
  lab::once([] {
    // They take long where a lane works for others.
    if (!lab::tries_large_sizes() || !small_ones_are_right) return;
    const unsigned many = lab::drawn(66000, 70000);
    for (const bool wide : {true, false}) {
      const std::size_t columns = wide ? many : 3;
      const int rows = wide ? 3 : static_cast<int>(many), window = wide ? 2 : 5;
      const std::vector<int> x = any_ints(columns, rows);
      const lab::Array<int> d_x(x), y(x.size());
      const auto launch = [&] {
        largest_of_window<<<static_cast<unsigned>(div_up(columns, 256)), 256>>>(
            d_x.get(), columns, rows, window, y.get());
        CUDA_CHECK_LAUNCH();
      };
      const auto results = [&] {
        lab::expect_equal(name_of(rows, window) + ", " + std::to_string(columns) + " columns",
                          y.download(), largest_on_host(x, columns, rows, window));
      };
      if (!wide) return launch(), results();  // so many rows take long to count
      lab::count(launch, results, [&](const auto& seen) { expect_registers(seen, columns, rows); });
    }
  });
}
