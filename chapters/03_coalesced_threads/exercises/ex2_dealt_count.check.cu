// SPDX-License-Identifier: MIT
// STARTER FAILS: every thread counts the elements that are dealt to it
#include <climits>

#include "common/labs/counts.cuh"
#include "common/labs/dealt.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// The number of blocks is free as n is.
const unsigned kBlocks = lab::drawn(2, 5);

// One of the values, so that "larger or equal" gives another count.
int limit_for(const std::vector<int>& x) { return x.empty() ? 0 : x[x.size() / 2]; }

// Large ones, too, and some just above the limit: a short or a float does not tell them apart.
std::vector<int> values_of(const lab::Trial& at) {
  if (at.input != lab::Input::kRandom) return lab::ints_of(at);
  std::vector<int> x = random_ints(at.n, INT_MIN, INT_MAX - 1, 7 + at.n);
  const int limit = limit_for(x);
  for (std::size_t i = 0; i < x.size(); i += 3) {
    if (i != x.size() / 2) x[i] = limit + 1;
  }
  return x;
}

lab::Trials trials() {
  static const std::vector<std::size_t> sizes = [] {
    std::vector<std::size_t> sizes = lab::sizes();
    sizes.insert(sizes.end() - 1, lab::drawn(2054, 4096));
    return sizes;
  }();
  static const unsigned any = lab::drawn(34, 1023);
  return lab::Trials().sizes(sizes).blocks({32, 1, 33, 250, 1024, any});
}

// The elements of a thread, at most.
std::size_t rounds_of(const lab::Trial& at) {
  return div_up(at.n, std::size_t{kBlocks} * at.block);
}

// A learner may count in counts[t], which is then loaded as well: hence twice.
template <class Seen>
void expect_dealt(const Seen& seen, const lab::DealtLoads& wanted, std::size_t rounds,
                  const std::string& whose) {
  lab::between("elements that " + whose + " load", seen.loads().lanes, wanted.elements,
               2 * wanted.elements, "each thread loads those that are dealt to it, and no others");
  lab::at_most("load requests of " + whose, seen.loads().requests, 2 * wanted.requests,
               "the lanes of a warp load neighbours, in one request");
  lab::at_most("elements that one warp loads", seen.loads_of_busiest_warp(sizeof(int)),
               2 * wanted.of_warp, "no warp counts for another");
  // Who counts in counts[t] stores it as often.
  const std::uint64_t stored = seen.bytes_stored_by_busiest_thread() / sizeof(int);
  lab::at_most("elements that one thread loads",
               seen.bytes_loaded_by_busiest_thread() / sizeof(int),
               rounds + (stored > 0 ? stored - 1 : 0),
               "those that are dealt to it: no thread counts for another");
  lab::expect_nothing_handed_over(seen);
}

}  // namespace

TEST_CASE("every thread counts the elements that are dealt to it") {
  trials().run([](const lab::Trial& at) {
    const std::vector<int> x = values_of(at);
    const std::size_t threads = std::size_t{kBlocks} * at.block;
    std::vector<unsigned> expected(threads, 0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] > limit_for(x)) ++expected[i % threads];
    }
    const lab::Array<int> d_x(x);
    const lab::Array<unsigned> counts(threads);
    const auto launch = [&] {
      count_larger<<<kBlocks, at.block>>>(d_x.get(), at.n, limit_for(x), counts.get());
      CUDA_CHECK_LAUNCH();
    };
    lab::count(
        launch, [&] { lab::expect_equal("counts", counts.download(), expected); },
        [&](const auto& seen) {
          expect_dealt(seen, {at, kBlocks, kBlocks}, rounds_of(at), "all threads together");
        });
    lab::count_first_block(launch, [&](const auto& seen) {
      expect_dealt(seen, {at, kBlocks, 1}, rounds_of(at), "the first block's threads");
    });
  });
}

TEST_CASE("the host adds the counts of all threads") {
  trials().inputs({lab::Input::kRandom, lab::Input::kIndices}).run([](const lab::Trial& at) {
    const std::vector<int> x = values_of(at);
    std::size_t expected = 0, total = 0;
    for (const int value : x) expected += limit_for(x) < value ? 1 : 0;
    const lab::Array<int> d_x(x);
    const auto call = [&] {
      total = count_on_device(d_x.get(), at.n, limit_for(x), kBlocks, at.block);
    };
    lab::Copied copied;
    lab::count([&] { copied = lab::copied_by(call, d_x); },
               [&] { lab::expect_equal("count_on_device", total, expected); },
               [&](const auto& seen) {
                 lab::exactly("blocks of the launch", seen.grid.x, kBlocks, "the number asked for");
                 lab::exactly("threads of a block", seen.block.x, at.block, "the number asked for");
                 expect_dealt(seen, {at, kBlocks, kBlocks}, rounds_of(at), "the kernel's threads");
                 lab::exactly("bytes of x that were copied", copied.of_arrays, 0,
                              "the kernel has counted; the host adds its counts");
               });
  });
}

TEST_CASE("there may be more blocks than a block may have threads") {
  lab::once([] {
    const std::vector<int> x(5000, 1);
    const lab::Array<int> d_x(x);
    lab::expect_equal("count_on_device", count_on_device(d_x.get(), x.size(), 0, 1025, 2),
                      x.size());
  });
}

TEST_CASE("there may be more elements and blocks than 16 bits count") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const std::size_t n = lab::drawn(140000, 150000);
    const lab::Array<int> d_x(std::vector<int>(n, 1));
    const auto expect_all = [&](unsigned blocks, unsigned block) {
      const std::string call = "count_on_device(d_x, " + std::to_string(n) + ", 0, " +
                               std::to_string(blocks) + ", " + std::to_string(block) + ")";
      std::size_t total = 0;
      lab::count([&] { total = count_on_device(d_x.get(), n, 0, blocks, block); },
                 [&] { lab::expect_equal(call, total, n); },
                 [&](const auto& seen) {
                   lab::exactly("blocks of the launch", seen.grid.x, blocks,
                                "the number asked for");
                   lab::at_most("bytes of x and counts that one thread loads",
                                seen.bytes_loaded_by_busiest_thread(),
                                2 * sizeof(int) * div_up(n, std::size_t{blocks} * block),
                                "the elements that are dealt to it: no thread counts for another");
                 });
    };
    expect_all(2, 1);
    expect_all(lab::drawn(65600, 66000), 1);
    expect_all(lab::drawn(70, 90), 1000);
  });
}
