// SPDX-License-Identifier: MIT
// STARTER FAILS: every launch leaves the sum of all elements
#include <numeric>

#include "tests/lab_testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every launch leaves the sum of all elements") {
  lab::Trials().sizes(lab::sizes()).blocks({32, 128}).run([](const lab::Trial& at) {
    const std::vector<int> x = lab::ints_of(at);
    const long long expected = std::accumulate(x.begin(), x.end(), 0LL);

    const lab::Array<int> d_x(x);
    const lab::Array<unsigned> ticket(std::vector<unsigned>{0});
    int launch = 0;
    // The same grid again, more blocks than a block has threads, one block, and fewer than before.
    for (const unsigned grid : {3u, 3u, 40u, 1u, 3u}) {
      const lab::Array<long long> partials(grid), result(1);
      sum_all<<<grid, at.block>>>(d_x.get(), at.n, partials.get(), ticket.get(), result.get());
      CUDA_CHECK_LAUNCH();
      const std::string which = std::to_string(++launch) + (grid > 1 ? ", of " : ", of only ");
      lab::expect_equal(
          "*result after launch " + which + std::to_string(grid) + " block" + (grid > 1 ? "s" : ""),
          result.download()[0], expected);
    }
  });
}
