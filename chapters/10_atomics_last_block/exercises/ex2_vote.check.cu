// SPDX-License-Identifier: MIT
// STARTER FAILS: every odd value is kept once, and a warp takes its places by one atomic
#include <algorithm>
#include <climits>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// Any ints, negative ones that are all odd, or each its own index.
std::vector<int> values_of(const lab::Trial& at) {
  if (at.input == lab::Input::kIndices) return lab::ints_of(at);
  const bool all_odd = at.input == lab::Input::kNegative;
  std::vector<int> values = random_ints(at.n, INT_MIN, all_odd ? -1 : INT_MAX, 7 + at.n);
  if (at.n > 0) values[at.n / 2] = INT_MIN + 1;  // the smallest that is odd
  for (int& value : values) value |= all_odd ? 1 : 0;
  return values;
}

}  // namespace

TEST_CASE("every odd value is kept once, and a warp takes its places by one atomic") {
  // x[i] = i first: every lane 0 has an even value there.
  lab::Trials()
      .sizes({32, 31, 33, 127, 256, 1000, lab::drawn(1001, 4000), 1, 0, lab::drawn(140000, 145000),
              lab::drawn(145001, 150000)})
      .blocks({32, 96, 32 * lab::drawn(9, 32), 256})
      .inputs({lab::Input::kIndices, lab::Input::kRandom, lab::Input::kNegative})
      .run([](const lab::Trial& at) {
        const std::vector<int> x = values_of(at);
        // Few blocks that go round often, and more threads than 16 bits count.
        const unsigned grid = at.n > 145000   ? lab::drawn(257, 300)
                              : at.n > 4096   ? 2
                              : at.n % 2 == 0 ? 3
                                              : lab::drawn(1, 20);
        std::vector<int> expected;
        std::size_t that_keep = 0;  // groups of 32 elements, one for each vote
        for (std::size_t first = 0; first < x.size(); first += 32) {
          const std::size_t before = expected.size();
          for (std::size_t i = first; i < std::min(x.size(), first + 32); ++i) {
            if ((x[i] & 1) != 0) expected.push_back(x[i]);
          }
          if (expected.size() > before) ++that_keep;
        }
        std::sort(expected.begin(), expected.end());

        const lab::Array<int> d_x(x), d_kept(expected.size());  // room for those, and not one more
        const lab::Array<unsigned> count(std::vector<unsigned>{0});
        lab::count(
            [&] {
              keep_odd<<<grid, at.block>>>(d_x.get(), at.n, d_kept.get(), count.get());
              CUDA_CHECK_LAUNCH();
            },
            [&] {
              lab::expect_equal("*count", std::size_t{count.download()[0]}, expected.size());
              std::vector<int> kept = d_kept.download();
              std::sort(kept.begin(), kept.end());
              lab::expect_equal("sorted kept", kept, expected);
            },
            [&](const auto& seen) {
              lab::between("atomics of all lanes together", seen.atomics().lanes, that_keep,
                           div_up(at.n, 32), "one for each vote, by one lane for its warp");
              lab::exactly("lanes that store a value", seen.stores().lanes, expected.size(),
                           "each lane stores the value that it keeps");
              lab::at_most("stores, counting a warp's 32 lanes as one", seen.stores().requests,
                           that_keep, "the lanes of a warp store together");
              lab::exactly("lanes that load a value", seen.loads().lanes, at.n,
                           "each value is loaded once");
              const std::size_t rounds = div_up(at.n, std::size_t{grid} * at.block);
              lab::at_most("values that one lane loads",
                           seen.bytes_loaded_by_busiest_thread() / sizeof(int), rounds,
                           "one in each turn, its own");
              // A sum over the lanes below takes five shuffles.
              lab::at_most("votes and shuffles of one lane", seen.exchanges_of_busiest_thread,
                           10 * rounds, "in each turn a vote and a shuffle, or a few");
              lab::exactly("requests to shared memory", seen.shared().requests, 0,
                           "votes and shuffles are enough");
            });
      });
}
