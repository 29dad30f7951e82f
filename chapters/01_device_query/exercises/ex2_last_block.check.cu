// SPDX-License-Identifier: MIT
// STARTER FAILS: every int is copied by a thread of its own and nothing else is touched
#include <climits>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every int is copied by a thread of its own and nothing else is touched") {
  // Multiples of some blocks first.
  lab::Trials()
      .sizes({1024, 2048, 1000, 257, 256, 255, 1, 31, 32, 33, 2053, lab::drawn(2054, 4096)})
      .blocks({32, 256, 250, 1, 33, 1024, lab::drawn(2, 31), lab::drawn(257, 1023)})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        const std::vector<int> x = random_ints(at.n, INT_MIN, INT_MAX, 7 + at.n);
        const lab::Array<int> from(x), to(at.n);
        lab::count([&] { launch_copy_ints(from.get(), to.get(), at.n, at.block); },
                   [&] {
                     lab::expect_equal("to", to.download(), x);
                     lab::expect_equal("from", from.download(), x);
                   },
                   [&](const auto& seen) {
                     lab::exactly("blocks", seen.grid.x, div_up(at.n, at.block),
                                  "enough to give each int a thread, and no more");
                     lab::exactly("loads of all threads together", seen.loads().lanes, at.n,
                                  "a thread for each int; the threads past the end do nothing");
                     lab::exactly("stores of all threads together", seen.stores().lanes, at.n,
                                  "a thread for each int; the threads past the end do nothing");
                     lab::exactly("loads, counting a warp's 32 threads as one",
                                  seen.loads().requests, lab::warps_at_work(at.n, at.block),
                                  "each thread copies one int, at the same time as its warp");
                   });
      });
}

TEST_CASE("every one of many ints is copied, by more blocks than 16 bits count") {
  if (!lab::tries_large_sizes()) return lab::once([] {});
  lab::Trials()
      .sizes({3 * lab::drawn(65600, 66000) + lab::drawn(1, 2)})
      .blocks({3})
      .inputs({lab::Input::kIndices})
      .run([](const lab::Trial& at) {
        const std::vector<int> x = lab::ints_of(at);
        const lab::Array<int> from(x), to(at.n);
        lab::count(
            [&] { launch_copy_ints(from.get(), to.get(), at.n, at.block); },
            [&] { lab::expect_equal("to", to.download(), x); },
            [&](const auto& seen) {
              lab::exactly("blocks", seen.grid.x, div_up(at.n, at.block),
                           "enough to give each int a thread, and no more");
              lab::at_most("bytes that one thread loads", seen.bytes_loaded_by_busiest_thread(),
                           sizeof(int), "a thread for each int");
              lab::at_most("bytes that one thread stores", seen.bytes_stored_by_busiest_thread(),
                           sizeof(int), "a thread for each int");
            });
      });
}
