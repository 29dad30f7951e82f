// SPDX-License-Identifier: MIT
// STARTER FAILS: every warp leaves the sum of its own elements, by its registers alone
#include <climits>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every warp leaves the sum of its own elements, by its registers alone") {
  lab::Trials()
      .sizes({1, 31, 32, 33, 256, 257, 1000, lab::drawn(1024, 4000), 0, lab::drawn(66000, 70000)})
      .blocks({32, 32 * lab::drawn(2, 7), 32 * lab::drawn(9, 32), 256})
      .run([](const lab::Trial& at) {
        // Any ints: 32 of them may leave 32 bits.
        const std::vector<int> x =
            at.input == lab::Input::kIndices
                ? lab::ints_of(at)
                : random_ints(at.n, INT_MIN, at.input == lab::Input::kNegative ? -1 : INT_MAX,
                              7 + at.n);
        const std::size_t blocks = std::max<std::size_t>(1, div_up(at.n, at.block));
        const std::size_t warps = blocks * at.block / 32;
        std::vector<long long> expected(warps, 0);
        for (std::size_t i = 0; i < at.n; ++i) expected[i / 32] += x[i];

        const lab::Array<int> d_x(x);
        const lab::Array<long long> sums(warps);
        lab::count(
            [&] {
              sum_of_warp<<<static_cast<unsigned>(blocks), at.block>>>(d_x.get(), at.n, sums.get());
              CUDA_CHECK_LAUNCH();
            },
            [&] { lab::expect_equal("sums", sums.download(), expected); },
            [&](const auto& seen) {
              lab::exactly("lanes that load an element", seen.loads().lanes, at.n,
                           "each element is loaded once, by a lane of its own");
              lab::exactly("requests of warps for x", seen.loads().requests, div_up(at.n, 32),
                           "the lanes of a warp load together");
              lab::exactly("requests to shared memory", seen.shared().requests, 0,
                           "registers reach other lanes by shuffles");
              lab::exactly("atomics", seen.atomics().requests, 0,
                           "registers reach other lanes by shuffles");
              lab::exactly("lanes that store a sum", seen.stores().lanes, warps,
                           "one of each warp");
              // Of 32-bit words two each, and something to spare.
              lab::at_most("votes and shuffles of one lane", seen.exchanges_of_busiest_thread, 12,
                           "each level halves the values that are left: five levels");
            });
      });
}
