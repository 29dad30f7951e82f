// SPDX-License-Identifier: MIT
// STARTER FAILS: every block leaves the sum of its own elements
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

unsigned levels_of(unsigned block) {
  unsigned levels = 0;
  for (unsigned half = block / 2; half > 0; half /= 2) ++levels;
  return levels;
}

// A tree in each of the blocks, which have n elements together.
template <class Seen>
void expect_trees(const Seen& seen, std::size_t n, unsigned block) {
  lab::exactly("elements that all threads load together", seen.loads().lanes, n,
               "each thread loads its own element, and no other");
  lab::at_most("requests of warps for them", seen.loads().requests, div_up(n, 32),
               "the lanes of a warp load together");
  lab::at_most("bytes of x that one thread loads", seen.bytes_loaded_by_busiest_thread(),
               sizeof(int), "each thread loads its own element, and no other");
  lab::exactly("atomics", seen.atomics().requests + seen.shared_atomics().requests, 0,
               "in a tree no two threads add to one place");
  lab::at_most("requests of warps that read slots", seen.shared_loads().requests,
               seen.blocks * block / 2,
               "at most one for every two threads: in a tree many lanes add at once");
  lab::at_most("barriers that each thread passes", seen.barriers_of_busiest_block,
               levels_of(block) + 2,
               "one before the tree and one for each of its levels, in all blocks alike");
  lab::at_most(
      "reads of slots and shuffles of one thread", seen.steps_of_busiest_thread(),
      3 * levels_of(block) + 1,
      "three at each level of the tree, and one in the end: no thread adds for all others");
  lab::exactly("results that all threads write together", seen.stores().lanes, seen.blocks,
               "one for each block");
}

std::vector<long long> sums_of_blocks(const std::vector<int>& x, unsigned block) {
  std::vector<long long> sums(std::max<std::size_t>(1, div_up(x.size(), block)), 0);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i / block] += x[i];
  return sums;
}

}  // namespace

TEST_CASE("every block leaves the sum of its own elements") {
  // Of the trials with larger blocks two sizes are counted: to count all would take long.
  std::vector<std::size_t> sizes = lab::sizes();
  const std::size_t few = lab::drawn(130, 1000), many = lab::drawn(2054, 4096);
  sizes.insert(sizes.end() - 1, {few, many});
  lab::Trials()
      .sizes(sizes)
      .blocks({32, 64, 128, 256, 512, 1024})
      .inputs({lab::Input::kRandom})
      .run([&](const lab::Trial& at) {
        const std::vector<int> x = lab::wide_ints_of(at);
        const std::vector<long long> expected = sums_of_blocks(x, at.block);
        const std::size_t blocks = expected.size();

        const lab::Array<int> d_x(x);
        const lab::Array<long long> sums(blocks);
        const auto launch = [&] {
          tree_of_block<<<static_cast<unsigned>(blocks), at.block>>>(d_x.get(), at.n, sums.get());
          CUDA_CHECK_LAUNCH();
        };
        const auto results = [&] { lab::expect_equal("sums", sums.download(), expected); };
        const bool is_drawn = at.n == few || at.n == many;
        if (at.block > 256 && !is_drawn) return launch(), results();

        lab::count(launch, results, [&](const auto& seen) { expect_trees(seen, at.n, at.block); });
      });
}

TEST_CASE("the sums of many elements are right") {
  if (!lab::tries_large_sizes()) return lab::once([] {});
  for (const unsigned block : {64u, 32u << lab::drawn(2, 5)}) {
    lab::Trials()
        .sizes({lab::drawn(65600, 66000)})
        .blocks({block})
        .inputs({lab::Input::kRandom})
        .run([](const lab::Trial& at) {
          const std::vector<int> x = lab::wide_ints_of(at);
          const std::vector<long long> expected = sums_of_blocks(x, at.block);
          const lab::Array<int> d_x(x);
          const lab::Array<long long> sums(expected.size());
          // Each of the blocks: one that does without a tree must not hide among hundreds.
          lab::count(
              [&] {
                tree_of_block<<<static_cast<unsigned>(expected.size()), at.block>>>(d_x.get(), at.n,
                                                                                    sums.get());
                CUDA_CHECK_LAUNCH();
              },
              [&] { lab::expect_equal("sums", sums.download(), expected); },
              [&](const auto& seen) { expect_trees(seen, at.n, at.block); });
        });
  }
}
