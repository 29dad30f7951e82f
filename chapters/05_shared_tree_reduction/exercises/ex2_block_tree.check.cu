// SPDX-License-Identifier: MIT
// STARTER FAILS: every block leaves the sum of its own elements
#include "tests/lab_testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every block leaves the sum of its own elements") {
  lab::Trials().sizes(lab::sizes()).blocks(lab::warp_blocks()).run([](const lab::Trial& at) {
    const std::vector<int> x = lab::ints_of(at);
    const std::size_t blocks = std::max<std::size_t>(1, div_up(at.n, at.block));
    std::vector<long long> expected(blocks, 0);
    for (std::size_t i = 0; i < at.n; ++i) expected[i / at.block] += x[i];

    const lab::Array<int> d_x(x);
    const lab::Array<long long> sums(blocks);
    tree_of_block<<<static_cast<unsigned>(blocks), at.block>>>(d_x.get(), at.n, sums.get());
    CUDA_CHECK_LAUNCH();
    lab::expect_equal("sums", sums.download(), expected);
  });
}
