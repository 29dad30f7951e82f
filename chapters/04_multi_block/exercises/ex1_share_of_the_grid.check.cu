// SPDX-License-Identifier: MIT
// STARTER FAILS: every thread of the grid leaves the sum of its own share
#include <algorithm>

#include "common/labs/counts.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// Two to three rounds once there are several blocks, and the last round is not full.
unsigned blocks_of(const lab::Trial& at) {
  return static_cast<unsigned>(1 + at.n / (2 * std::size_t{at.block}));
}

// What the first `blocks` blocks load: each element once, in a request for each round in which a
// warp has one. Loops that take several elements a turn make up to three requests more for the
// rest. No warp loads more than the first.
struct Wanted {
  std::size_t elements = 0, requests = 0, of_warp = 0;

  Wanted(const lab::Trial& at, unsigned blocks) {
    const std::size_t threads = std::size_t{blocks_of(at)} * at.block;
    const unsigned lanes = std::min(at.block, 32u);
    for (std::size_t i = 0; i < at.n; ++i) {
      elements += i % threads < blocks * at.block ? 1 : 0;
      of_warp += i % threads < lanes ? 1 : 0;
    }
    for (unsigned b = 0; b < blocks; ++b) {
      for (unsigned warp = 0; warp < at.block; warp += 32) {
        const std::size_t first = std::size_t{b} * at.block + warp;
        if (first < at.n) requests += div_up(at.n - first, threads) + 3;
      }
    }
  }

  template <class Seen>
  void compare(const Seen& seen, const std::string& whose) const {
    auto x = seen.loads();
    x = {};
    for (const auto& access : seen.accesses) {  // not of partial, where a learner may add in place
      const bool is_load = access.operation == Seen::Operation::kLoad;
      if (is_load && access.bytes_per_lane == sizeof(int)) x += access.counts;
    }
    lab::exactly("elements of x that " + whose + " load", x.lanes, elements,
                 "each thread loads its own share, once");
    lab::at_most("load requests of " + whose + " for x", x.requests, requests,
                 "the lanes of a warp load neighbours, in one request");
    lab::at_most("elements of x that one warp loads", seen.loads_of_busiest_warp(sizeof(int)),
                 of_warp, "no warp works for another");
  }
};

}  // namespace

TEST_CASE("every thread of the grid leaves the sum of its own share") {
  lab::Trials()
      .sizes(lab::sizes())
      .blocks({1, 31, 32, 96, 256})
      .diagnose("one block is right, several are not: which lines know only their own block?",
                [](const lab::Trial& r) { return r.n >= 2 * std::size_t{r.block}; })
      .run([](const lab::Trial& at) {
        const std::size_t threads = std::size_t{blocks_of(at)} * at.block;
        const std::vector<int> x = lab::ints_of(at);
        std::vector<long long> expected(threads, 0);
        for (std::size_t i = 0; i < at.n; ++i) expected[i % threads] += x[i];

        const lab::Array<int> d_x(x);
        const lab::Array<long long> partial(threads);
        const auto launch = [&] {
          sum_of_share<<<blocks_of(at), at.block>>>(d_x.get(), at.n, partial.get());
          CUDA_CHECK_LAUNCH();
        };
        lab::count(
            launch, [&] { lab::expect_equal("partial", partial.download(), expected); },
            [&](const auto& seen) { Wanted(at, blocks_of(at)).compare(seen, "all warps"); });
        lab::count_first_block(
            launch, [&](const auto& seen) { Wanted(at, 1).compare(seen, "block 0's warps"); });
      });
}
