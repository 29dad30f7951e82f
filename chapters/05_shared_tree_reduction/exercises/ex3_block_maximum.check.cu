// SPDX-License-Identifier: MIT
// STARTER FAILS: every block leaves the largest of its own elements
#include <algorithm>

#include "tests/lab_testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every block leaves the largest of its own elements") {
  lab::Trials().sizes(lab::sizes()).blocks(lab::warp_blocks()).run([](const lab::Trial& at) {
    const std::vector<int> x = lab::ints_of(at);
    const std::size_t blocks = std::max<std::size_t>(1, div_up(at.n, at.block));
    std::vector<int> expected(blocks, INT_MIN);
    for (std::size_t i = 0; i < at.n; ++i) {
      expected[i / at.block] = std::max(expected[i / at.block], x[i]);
    }

    const lab::Array<int> d_x(x), maxima(blocks);
    launch_maximum_of_block(d_x.get(), at.n, maxima.get(), at.block);
    lab::expect_equal("maxima", maxima.download(), expected);
  });
}
