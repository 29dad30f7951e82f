// SPDX-License-Identifier: MIT
// STARTER FAILS: every block leaves the sum of its own elements
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

std::vector<long long> sums_of_blocks(const std::vector<int>& x, unsigned block) {
  std::vector<long long> sums(std::max<std::size_t>(1, div_up(x.size(), block)), 0);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i / block] += x[i];
  return sums;
}

// In the blocks that were counted.
template <class Seen>
void expect_own_slots(const Seen& seen, unsigned block) {
  const std::uint64_t threads = seen.blocks_counted * block, slots = seen.shared_stores().lanes;
  lab::between("slots that all threads write together", slots, threads, 2 * threads,
               "each thread fills a slot");
  const auto of_thread =
      seen.of_busiest_thread(Seen::Space::kShared, Seen::Operation::kStore).accesses;
  lab::at_most("slots that one thread writes, each time anew", of_thread, slots == threads ? 1 : 7,
               "its own, and once more at each level of a tree");
  lab::at_most("bytes of x that one thread loads", seen.bytes_loaded_by_busiest_thread(),
               sizeof(int), "each thread loads its own element, and no other");
}

}  // namespace

TEST_CASE("every block leaves the sum of its own elements") {
  std::vector<std::size_t> sizes = lab::sizes();
  sizes.insert(sizes.end() - 1, lab::drawn(2054, 4096));
  lab::Trials().sizes(sizes).blocks({64}).run([](const lab::Trial& at) {
    const std::vector<int> x = lab::wide_ints_of(at);
    const std::vector<long long> expected = sums_of_blocks(x, at.block);
    const std::size_t blocks = expected.size();

    const lab::Array<int> d_x(x);
    const lab::Array<long long> sums(blocks);
    lab::count(
        [&] {
          sum_of_block<<<static_cast<unsigned>(blocks), at.block>>>(d_x.get(), at.n, sums.get());
          CUDA_CHECK_LAUNCH();
        },
        [&] { lab::expect_equal("sums", sums.download(), expected); },
        [&](const auto& seen) {
          lab::exactly("elements that all threads load together", seen.loads().lanes, at.n,
                       "each thread loads its own element, and no other");
          lab::exactly("requests of warps for them", seen.loads().requests, div_up(at.n, 32),
                       "the lanes of a warp load together");
          lab::between("bytes of shared memory that a block has", seen.shared_bytes,
                       at.block * sizeof(int), at.block * sizeof(long long),
                       "a slot for each of its 64 threads, and no more");
          expect_own_slots(seen, at.block);
          lab::exactly("atomics", seen.atomics().requests + seen.shared_atomics().requests, 0,
                       "nobody else writes to a thread's slot");
          lab::exactly("results that all threads write together", seen.stores().lanes, blocks,
                       "one for each block");
        });
  });
}

TEST_CASE("the sums of many elements are right") {
  if (!lab::tries_large_sizes()) return lab::once([] {});
  lab::Trials()
      .sizes({lab::drawn(65600, 66000)})
      .blocks({64})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        const std::vector<int> x = lab::wide_ints_of(at);
        const std::vector<long long> expected = sums_of_blocks(x, at.block);
        const lab::Array<int> d_x(x);
        const lab::Array<long long> sums(expected.size());
        lab::count(
            [&] {
              sum_of_block<<<static_cast<unsigned>(expected.size()), at.block>>>(d_x.get(), at.n,
                                                                                 sums.get());
              CUDA_CHECK_LAUNCH();
            },
            [&] { lab::expect_equal("sums", sums.download(), expected); },
            [&](const auto& seen) { expect_own_slots(seen, at.block); });
      });
}
