// SPDX-License-Identifier: MIT
// STARTER FAILS: every block leaves the largest of its own elements
// TOO SLOW: remainders
#include <algorithm>
#include <climits>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/speed.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

unsigned levels_of(unsigned block) {
  unsigned levels = 0;
  for (unsigned half = block / 2; half > 0; half /= 2) ++levels;
  return levels;
}

// A tree in each of the blocks that were counted; `elements` of x are theirs.
template <class Seen>
void expect_trees(const Seen& seen, std::size_t elements, unsigned block) {
  const std::size_t blocks = seen.blocks_counted;
  lab::exactly("threads in a block", seen.block.x, block);
  lab::between("elements that all threads load together", seen.loads().lanes,
               blocks < seen.blocks ? 1 : elements, elements,
               "each thread loads its own element, and no other");
  lab::at_most("requests of warps for them", seen.loads().requests, div_up(elements, 32),
               "the lanes of a warp load together");
  lab::at_most("bytes of x that one thread loads", seen.bytes_loaded_by_busiest_thread(),
               sizeof(int), "each thread loads its own element, and no other");
  lab::exactly("atomics", seen.atomics().requests + seen.shared_atomics().requests, 0,
               "in a tree no two threads write to one place");
  lab::between("bytes of shared memory that a block has", seen.shared_bytes, 1, block * sizeof(int),
               "a slot for each thread, and no more");
  const unsigned levels = levels_of(block), warps = block / 32;
  lab::at_most("barriers that each thread passes", seen.barriers_of_busiest_block, levels + 2,
               "one before the tree and one for each of its levels");
  lab::at_most("reads of slots and shuffles of one thread", seen.steps_of_busiest_thread(),
               3 * levels + 1,
               "three at each level of the tree, and one in the end: no thread compares for all "
               "others");
  lab::at_most(
      "wavefronts of all requests to shared memory, in a block of " + std::to_string(block),
      div_up(seen.shared().wavefronts, blocks), 4 * (levels + warps),
      "four for each warp of the block, and four for each level of the tree");
  lab::exactly("results that all threads write together", seen.stores().lanes, blocks,
               "one for each block");
}

std::vector<int> maxima_of(const std::vector<int>& x, unsigned block) {
  std::vector<int> maxima(std::max<std::size_t>(1, div_up(x.size(), block)), INT_MIN);
  for (std::size_t i = 0; i < x.size(); ++i) maxima[i / block] = std::max(maxima[i / block], x[i]);
  return maxima;
}

// A block has little to load and eight levels to fold: that is far from what the memory gives.
void expect_speed() {
  constexpr std::size_t n = lab::kSpeedBytes / sizeof(int);
  constexpr unsigned kBlock = 256;
  const std::vector<int> x = random_ints(n, INT_MIN, INT_MAX, 3);
  const std::vector<int> expected = maxima_of(x, kBlock);
  const lab::Array<int> d_x(x), maxima(expected.size());
  lab::reach(
      {14, lab::read_bound(), lab::kSpeedBytes / 1e9, "GB/s"},
      [&] { launch_maximum_of_block(d_x.get(), n, maxima.get(), kBlock); },
      [&] { lab::expect_equal("maxima", maxima.download(), expected); });
}

}  // namespace

TEST_CASE("every block leaves the largest of its own elements") {
  // Of the trials with larger blocks, and with negative values, one size each is counted: to count
  // all would take long.
  std::vector<std::size_t> sizes = lab::sizes();
  const std::size_t few = lab::drawn(130, 1000), many = lab::drawn(2054, 4096);
  sizes.insert(sizes.end() - 1, {few, many});
  lab::Trials()
      .sizes(sizes)
      .blocks({32, 64, 128, 256, 512, 1024})
      .inputs({lab::Input::kRandom, lab::Input::kNegative})
      .run([&](const lab::Trial& at) {
        const std::vector<int> x = lab::wide_ints_of(at);
        const std::vector<int> expected = maxima_of(x, at.block);
        const std::size_t blocks = expected.size();

        const lab::Array<int> d_x(x), maxima(blocks);
        const auto launch = [&] {
          launch_maximum_of_block(d_x.get(), at.n, maxima.get(), at.block);
        };
        const auto results = [&] { lab::expect_equal("maxima", maxima.download(), expected); };
        const bool is_drawn = at.n == few || at.n == many;
        const bool is_small = at.input == lab::Input::kRandom && at.block <= 256;
        if (!is_drawn && !is_small) return launch(), results();

        lab::Copied copied;
        const auto work = [&] { copied = lab::copied_by(launch, d_x, maxima); };
        lab::count(work, results, [&](const auto& seen) {
          lab::exactly("blocks", seen.grid.x, blocks,
                       "enough to give each element a thread, and no more");
          expect_trees(seen, at.n, at.block);
          lab::exactly("bytes of x and maxima that were copied", copied.of_arrays, 0,
                       "the blocks read and write them where they are");
        });
      });
  lab::on_a_gpu(expect_speed);
}

TEST_CASE("the maxima of more blocks than 16 bits count are right") {
  if (!lab::tries_large_sizes()) return lab::once([] {});
  const auto try_once = [](std::size_t n, unsigned block, const auto& count) {
    lab::Trials()
        .sizes({n})
        .blocks({block})
        .inputs({lab::Input::kRandom})
        .run([&](const lab::Trial& at) {
          const std::vector<int> x = lab::wide_ints_of(at);
          const std::vector<int> expected = maxima_of(x, at.block);
          const lab::Array<int> d_x(x), maxima(expected.size());
          count([&] { launch_maximum_of_block(d_x.get(), at.n, maxima.get(), at.block); },
                [&] { lab::expect_equal("maxima", maxima.download(), expected); },
                [&](const auto& seen) {
                  lab::exactly("blocks", seen.grid.x, expected.size());
                  const std::size_t elements = seen.blocks_counted * at.block;
                  expect_trees(seen, std::min(elements, at.n), at.block);
                });
        });
  };
  try_once(32 * lab::drawn(65600, 66000) + lab::drawn(1, 31), 32,
           [](const auto& work, const auto& results, const auto& judge) {
             lab::count_some_blocks(30, work, results, judge);
           });
  // Each of the blocks: one that does without a tree must not hide among hundreds.
  try_once(lab::drawn(65600, 66000), 32u << lab::drawn(1, 5),
           [](const auto& work, const auto& results, const auto& judge) {
             lab::count(work, results, judge);
           });
}
