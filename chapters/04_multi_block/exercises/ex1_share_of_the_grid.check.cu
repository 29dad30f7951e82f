// SPDX-License-Identifier: MIT
// STARTER FAILS: every thread of the grid leaves the sum of its own share
#include "tests/lab_testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every thread of the grid leaves the sum of its own share") {
  lab::Trials()
      .sizes(lab::sizes())
      .blocks({1, 31, 32, 96, 256})
      .diagnose("one block is right, several are not: which lines know only their own block?",
                [](const lab::Trial& r) { return r.n >= 2 * std::size_t{r.block}; })
      .run([](const lab::Trial& at) {
        // Two to three rounds once there are several blocks, and the last round is not full.
        const std::size_t blocks = 1 + at.n / (2 * std::size_t{at.block});
        const std::size_t threads = blocks * at.block;
        const std::vector<int> x = lab::ints_of(at);
        std::vector<long long> expected(threads, 0);
        for (std::size_t i = 0; i < at.n; ++i) expected[i % threads] += x[i];

        const lab::Array<int> d_x(x);
        const lab::Array<long long> partial(threads);
        sum_of_share<<<static_cast<unsigned>(blocks), at.block>>>(d_x.get(), at.n, partial.get());
        CUDA_CHECK_LAUNCH();
        lab::expect_equal("partial", partial.download(), expected);
      });
}
