// SPDX-License-Identifier: MIT
// STARTER FAILS: every int is copied and nothing else is touched
#include "tests/lab_testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every int is copied and nothing else is touched") {
  // Multiples of some blocks first.
  lab::Trials()
      .sizes({1024, 2048, 1000, 257, 256, 255, 1, 31, 32, 33, 2053})
      .blocks({32, 256, 250, 1, 33, 1024})
      .run([](const lab::Trial& at) {
        const std::vector<int> x = lab::ints_of(at);
        const lab::Array<int> from(x), to(at.n);
        launch_copy_ints(from.get(), to.get(), at.n, at.block);
        lab::expect_equal("to", to.download(), x);
        lab::expect_equal("from", from.download(), x);
      });
}
