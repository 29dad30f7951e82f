// SPDX-License-Identifier: MIT
// STARTER FAILS: every block leaves the sum of its own elements
#include "common/labs/counts.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

unsigned levels_of(unsigned block) {
  unsigned levels = 0;
  for (unsigned half = block / 2; half > 0; half /= 2) ++levels;
  return levels;
}

}  // namespace

TEST_CASE("every block leaves the sum of its own elements") {
  lab::Trials()
      .sizes(lab::sizes())
      .blocks(lab::warp_blocks())
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        const std::vector<int> x = lab::ints_of(at);
        const std::size_t blocks = std::max<std::size_t>(1, div_up(at.n, at.block));
        std::vector<long long> expected(blocks, 0);
        for (std::size_t i = 0; i < at.n; ++i) expected[i / at.block] += x[i];

        const lab::Array<int> d_x(x);
        const lab::Array<long long> sums(blocks);
        const auto launch = [&] {
          tree_of_block<<<static_cast<unsigned>(blocks), at.block>>>(d_x.get(), at.n, sums.get());
          CUDA_CHECK_LAUNCH();
        };
        const auto results = [&] { lab::expect_equal("sums", sums.download(), expected); };
        if (at.block > 256) return launch(), results();  // counting them would take long

        lab::count(launch, results, [&](const auto& seen) {
          lab::exactly("elements that all threads load together", seen.loads().lanes, at.n,
                       "each thread loads its own element, and no other");
          lab::exactly("requests of warps for them", seen.loads().requests, div_up(at.n, 32),
                       "the lanes of a warp load together");
          lab::exactly("atomics", seen.atomics().requests + seen.shared_atomics().requests, 0,
                       "in a tree no two threads add to one place");
          lab::at_most("requests of warps that read slots", seen.shared_loads().requests,
                       blocks * at.block / 2,
                       "at most one for every two threads: in a tree many lanes add at once");
          lab::at_most("barriers that each thread passes", seen.barriers, levels_of(at.block) + 2,
                       "one before the tree and one for each of its levels, in all blocks alike");
          lab::exactly("results that all threads write together", seen.stores().lanes, blocks,
                       "one for each block");
        });
      });
}
