// SPDX-License-Identifier: MIT
// STARTER FAILS: every key is counted, by one atomic request of each warp
#include <set>

#include "common/labs/counts.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every key is counted, by one atomic request of each warp") {
  constexpr unsigned kKeys = 20;
  lab::Trials().sizes(lab::sizes()).blocks({32, 96, 256}).run([](const lab::Trial& at) {
    std::vector<int> keys = lab::ints_of(at);
    for (int& key : keys) key = (key % int{kKeys} + int{kKeys}) % int{kKeys};
    std::vector<unsigned> expected(kKeys, 0);
    for (const int key : keys) expected[static_cast<std::size_t>(key)] += 1;
    std::size_t different = 0;  // keys in each warp, summed
    for (std::size_t first = 0; first < at.n; first += 32) {
      std::set<int> of_warp;
      for (std::size_t i = first; i < at.n && i < first + 32; ++i) of_warp.insert(keys[i]);
      different += of_warp.size();
    }

    const lab::Array<int> d_keys(keys);
    const lab::Array<unsigned> bins(std::vector<unsigned>(kKeys, 0));
    const auto blocks = static_cast<unsigned>(std::max<std::size_t>(1, div_up(at.n, at.block)));
    lab::count(
        [&] {
          count_keys<<<blocks, at.block>>>(d_keys.get(), at.n, bins.get());
          CUDA_CHECK_LAUNCH();
        },
        [&] { lab::expect_equal("bins", bins.download(), expected); },
        [&](const auto& seen) {
          const auto atomics = seen.atomics();
          lab::exactly("lanes that add to a bin", atomics.lanes, different,
                       "one for each key that a warp has");
          lab::exactly("atomic requests of all warps", atomics.requests, div_up(at.n, 32),
                       "one of each warp with elements, for all of its keys");
          lab::exactly("lanes that load a key", seen.loads().lanes, at.n,
                       "each key is loaded once");
          lab::exactly("requests of warps for keys", seen.loads().requests, div_up(at.n, 32),
                       "the lanes of a warp load together");
          lab::exactly("requests to shared memory", seen.shared().requests, 0,
                       "the lanes agree by warp operations");
        });
  });
}
