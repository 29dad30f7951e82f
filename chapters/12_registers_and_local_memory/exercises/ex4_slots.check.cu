// SPDX-License-Identifier: MIT
// STARTER FAILS: every thread finds its most frequent value, by counters that share no bank
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// kRows values of each of n threads: any, or each of the ten equally often.
std::vector<int> values_of(const lab::Trial& at) {
  if (at.input == lab::Input::kRandom) {
    return random_ints(at.n * kRows, 0, static_cast<int>(kValues) - 1, 7 + at.n);
  }
  std::vector<int> x(at.n * kRows);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<int>((i / at.n + i % at.n) % kValues);
  }
  return x;
}

std::vector<int> most_frequent_on_host(const std::vector<int>& x, std::size_t n) {
  std::vector<int> most(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<std::size_t> counts(kValues, 0);
    for (std::size_t k = 0; k < kRows; ++k) ++counts[static_cast<unsigned>(x[k * n + i])];
    most[i] = static_cast<int>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  }
  return most;
}

unsigned blocks_of(std::size_t n, unsigned block) {
  return static_cast<unsigned>(std::max<std::size_t>(1, div_up(n, block)));
}

// What the kernel asks of memory, for n threads.
const auto expect_slots = [](const auto& seen, std::size_t n) {
  using Seen = std::decay_t<decltype(seen)>;
  lab::exactly("requests to local memory", seen.local().requests, 0,
               "the counters lie in shared memory, and nowhere else");
  lab::exactly("lanes that load from x", seen.loads().lanes, n * kRows,
               "each value is loaded once");
  lab::at_most("requests of warps to load", seen.loads().requests, kRows * div_up(n, 32),
               "the lanes of a warp load a row together");
  lab::at_most("lanes of the busiest warp that load", seen.loads_of_busiest_warp(sizeof(int)),
               32 * kRows, "a thread has one column");
  lab::at_most("values that one thread loads", seen.bytes_loaded_by_busiest_thread() / sizeof(int),
               kRows, "a thread has one column");
  const auto stores = seen.of_busiest_thread(Seen::Space::kShared, Seen::Operation::kStore);
  lab::at_most("stores of one thread to shared memory", stores.accesses, 2 * (kRows + kValues),
               "each thread clears its counters, and counts each of its values there");
  lab::between("lanes that store to shared memory", seen.shared_stores().lanes,
               n * (kRows + kValues), 2 * n * (kRows + kValues),
               "each thread clears its counters, and counts each of its values there");
  lab::between("lanes that load from shared memory", seen.shared_loads().lanes, n * kRows,
               4 * n * (kRows + kValues), "a counter goes up from what it holds there");
  lab::exactly("atomics in memory", seen.atomics().requests, 0,
               "the counters lie in shared memory");
  lab::exactly("atomics in shared memory", seen.shared_atomics().requests, 0,
               "nobody else counts in a thread's own slots");
  const auto shared = seen.shared();
  lab::exactly("wavefronts of all requests to shared memory", shared.wavefronts,
               shared.ideal_wavefronts, "as many as without bank conflicts");
  lab::exactly("barriers", seen.barriers_of_busiest_block, 0, "nobody waits for another's slots");
  lab::exactly("shuffles and votes of one thread", seen.exchanges_of_busiest_thread, 0,
               "nobody counts for another");
};

bool small_ones_are_right = true;  // in all tries of the first test case

}  // namespace

TEST_CASE("every thread finds its most frequent value, by counters that share no bank") {
  lab::Trials()
      .sizes({32, 31, 33, 257, lab::drawn(64, 256), lab::drawn(500, 6000), 1, 0})
      .blocks({32, 256, 32 * lab::drawn(2, 7)})
      .inputs({lab::Input::kRandom, lab::Input::kIndices})
      .run([](const lab::Trial& at) {
        const bool were_right = small_ones_are_right;
        small_ones_are_right = false;  // until this try has come to its end
        const std::vector<int> x = values_of(at), expected = most_frequent_on_host(x, at.n);
        const lab::Array<int> d_x(x), result(at.n);
        lab::count(
            [&] {
              const std::size_t bytes = at.block * kValues * sizeof(int);
              most_frequent<<<blocks_of(at.n, at.block), at.block, bytes>>>(d_x.get(), at.n,
                                                                            result.get());
              CUDA_CHECK_LAUNCH();
            },
            [&] { lab::expect_equal("result", result.download(), expected); },
            [&](const auto& seen) { expect_slots(seen, at.n); });
        small_ones_are_right = were_right;
      });
}

TEST_CASE("more than 2^16 threads are right") {
  lab::once([] {
    // They take long where a lane works for others.
    if (!lab::tries_large_sizes() || !small_ones_are_right) return;
    lab::Trial at;
    at.n = lab::drawn(66000, 68000);
    const std::vector<int> x = values_of(at);
    const lab::Array<int> d_x(x), result(at.n);
    lab::count(
        [&] {
          most_frequent<<<blocks_of(at.n, 256), 256, 256 * kValues * sizeof(int)>>>(d_x.get(), at.n,
                                                                                    result.get());
          CUDA_CHECK_LAUNCH();
        },
        [&] {
          lab::expect_equal("result of " + std::to_string(at.n) + " threads", result.download(),
                            most_frequent_on_host(x, at.n));
        },
        [&](const auto& seen) { expect_slots(seen, at.n); });
  });
}
