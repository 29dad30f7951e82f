// SPDX-License-Identifier: MIT
// STARTER FAILS: every thread finds its most frequent value, by counters that share no bank
#include "common/labs/counts.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every thread finds its most frequent value, by counters that share no bank") {
  lab::Trials()
      .sizes({32, 64, 31, 33, 256, 257, 500, 1, 0})
      .blocks({32, 96, 256})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        const std::vector<int> x =
            random_ints(at.n * kRows, 0, static_cast<int>(kValues) - 1, 7 + at.n);
        std::vector<int> expected(at.n);
        for (std::size_t i = 0; i < at.n; ++i) {
          std::vector<std::size_t> counts(kValues, 0);
          for (std::size_t k = 0; k < kRows; ++k) ++counts[static_cast<unsigned>(x[k * at.n + i])];
          const auto most = std::max_element(counts.begin(), counts.end());
          expected[i] = static_cast<int>(most - counts.begin());
        }

        const lab::Array<int> d_x(x), result(at.n);
        const auto blocks = static_cast<unsigned>(std::max<std::size_t>(1, div_up(at.n, at.block)));
        lab::count(
            [&] {
              most_frequent<<<blocks, at.block, at.block * kValues * sizeof(int)>>>(d_x.get(), at.n,
                                                                                    result.get());
              CUDA_CHECK_LAUNCH();
            },
            [&] { lab::expect_equal("result", result.download(), expected); },
            [&](const auto& seen) {
              lab::exactly("lanes that load from x", seen.loads().lanes, at.n * kRows,
                           "each value is loaded once");
              lab::between("lanes that store to shared memory", seen.shared_stores().lanes,
                           at.n * (kRows + kValues), 2 * at.n * (kRows + kValues),
                           "each thread clears its counters, and counts each of its values there");
              lab::exactly("atomics in shared memory", seen.shared_atomics().requests, 0,
                           "nobody else counts in a thread's own slots");
              const auto shared = seen.shared();
              lab::exactly("wavefronts of all requests to shared memory", shared.wavefronts,
                           shared.ideal_wavefronts, "as many as without bank conflicts");
              lab::exactly("barriers", seen.barriers, 0, "nobody waits for another's slots");
            });
      });
}
