// SPDX-License-Identifier: MIT
// STARTER FAILS: every row has the largest of its window, without local memory
#include <climits>

#include "common/labs/counts.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

constexpr int kRows = 11;

TEST_CASE("every row has the largest of its window, without local memory") {
  for (const int window : {3, 8, 1, 5}) {
    lab::Trials()
        .sizes({32, 31, 33, 257, 500, 1, 0})
        .blocks({32, 96})
        .inputs({lab::Input::kRandom})
        .run([window](const lab::Trial& at) {
          const std::vector<int> x = random_ints(at.n * kRows, -99, 99, 7 + at.n);
          std::vector<int> expected(x.size(), INT_MIN);
          for (int k = 0; k < kRows; ++k) {
            for (int from = std::max(0, k - window + 1); from <= k; ++from) {
              for (std::size_t i = 0; i < at.n; ++i) {
                int& largest = expected[static_cast<std::size_t>(k) * at.n + i];
                largest = std::max(largest, x[static_cast<std::size_t>(from) * at.n + i]);
              }
            }
          }

          const lab::Array<int> d_x(x), y(x.size());
          const auto blocks =
              static_cast<unsigned>(std::max<std::size_t>(1, div_up(at.n, at.block)));
          lab::count(
              [&] {
                largest_of_window<<<blocks, at.block>>>(d_x.get(), at.n, kRows, window, y.get());
                CUDA_CHECK_LAUNCH();
              },
              [&] { lab::expect_equal("y", y.download(), expected); },
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
