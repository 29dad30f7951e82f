// SPDX-License-Identifier: MIT
// STARTER FAILS: every thread of the grid leaves the sum of its own share
#include <climits>

#include "common/labs/counts.cuh"
#include "common/labs/dealt.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// Up to three rounds once there are several blocks, and the last round is not full. With two, a
// thread that adds for its neighbour, too, would load no more than one that adds in place.
unsigned blocks_of(const lab::Trial& at) {
  return static_cast<unsigned>(1 + at.n / (3 * std::size_t{at.block}));
}

std::vector<long long> sums_of_threads(const std::vector<int>& x, std::size_t threads) {
  std::vector<long long> sums(threads, 0);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i % threads] += x[i];
  return sums;
}

template <class Seen>
void expect_own_shares(const Seen& seen, const lab::DealtLoads& wanted, std::size_t rounds,
                       const std::string& whose) {
  const auto x = lab::loads_of_ints(seen);
  lab::exactly("elements of x that " + whose + " load", x.lanes, wanted.elements,
               "each thread loads its own share, once");
  lab::at_most("load requests of " + whose + " for x", x.requests, wanted.requests,
               "the lanes of a warp load neighbours, in one request");
  lab::at_most("elements of x that one warp loads", seen.loads_of_busiest_warp(sizeof(int)),
               wanted.of_warp, "no warp works for another");
  lab::expect_own_rounds(seen, rounds);
}

bool shares_are_right = true;  // in all tries of the first test case

}  // namespace

TEST_CASE("every thread of the grid leaves the sum of its own share") {
  std::vector<std::size_t> sizes = lab::sizes();
  sizes.insert(sizes.end() - 1, lab::drawn(1025, 2052));
  lab::Trials()
      .sizes(sizes)
      .blocks({1, 31, 32, 96, 256, lab::drawn(257, 1024)})
      .diagnose("one block is right, several are not: which lines know only their own block?",
                [](const lab::Trial& r) { return r.n >= 3 * std::size_t{r.block}; })
      .run([](const lab::Trial& at) {
        const bool were_right = shares_are_right;
        shares_are_right = false;  // until this try has come to its end
        const std::size_t threads = std::size_t{blocks_of(at)} * at.block;
        const std::vector<int> x = lab::wide_ints_of(at);
        const std::vector<long long> expected = sums_of_threads(x, threads);

        const lab::Array<int> d_x(x);
        const lab::Array<long long> partial(threads);
        const auto launch = [&] {
          sum_of_share<<<blocks_of(at), at.block>>>(d_x.get(), at.n, partial.get());
          CUDA_CHECK_LAUNCH();
        };
        lab::count(
            launch, [&] { lab::expect_equal("partial", partial.download(), expected); },
            [&](const auto& seen) {
              expect_own_shares(seen, {at, blocks_of(at), blocks_of(at)}, div_up(at.n, threads),
                                "all warps");
            });
        lab::count_first_block(launch, [&](const auto& seen) {
          expect_own_shares(seen, {at, blocks_of(at), 1}, div_up(at.n, threads), "block 0's warps");
        });
        shares_are_right = were_right;
      });
}

TEST_CASE("more blocks than 16 bits count share more elements than that") {
  // That takes minutes where every thread loads everything.
  if (!lab::tries_large_sizes() || !shares_are_right) return lab::once([] {});
  lab::Trials()
      .sizes({lab::drawn(4097, 60000), lab::drawn(270000, 280000)})
      // In a block of one thread the first one has nobody to work for.
      .blocks({lab::drawn(2, 4)})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        const unsigned blocks = at.n > 60000 ? lab::drawn(65600, 66000) : lab::drawn(900, 1000);
        const std::vector<int> x = lab::wide_ints_of(at);
        const lab::Array<int> d_x(x);
        const lab::Array<long long> partial(std::size_t{blocks} * at.block);
        const std::vector<long long> expected = sums_of_threads(x, partial.size());
        lab::count(
            [&] {
              sum_of_share<<<blocks, at.block>>>(d_x.get(), at.n, partial.get());
              CUDA_CHECK_LAUNCH();
            },
            [&] {
              lab::expect_equal("grid of " + std::to_string(blocks) + ": partial",
                                partial.download(), expected);
            },
            [&](const auto& seen) {
              expect_own_shares(seen, {at, blocks, blocks}, div_up(at.n, partial.size()),
                                "all warps");
            });
      });
}

// A double holds every whole number up to 2^53; four million of the largest ints reach it.
TEST_CASE("a share may have a sum that no double holds") {
  if (!lab::tries_large_sizes() || !shares_are_right) return lab::once([] {});
  lab::once([] {
    const std::size_t n = (9u << 19) + lab::drawn(1, 999);
    const lab::Array<int> d_x(std::vector<int>(n, INT_MAX));
    const lab::Array<long long> partial(1);
    sum_of_share<<<1, 1>>>(d_x.get(), n, partial.get());
    CUDA_CHECK_LAUNCH();
    lab::expect_equal(
        std::to_string(n) + " elements of " + std::to_string(INT_MAX) + ", one thread: partial[0]",
        partial.download()[0], static_cast<long long>(n) * INT_MAX);
  });
}
