// SPDX-License-Identifier: MIT
// STARTER FAILS: every key is counted, by one atomic request of each warp
#include <set>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// So many different keys, so far apart: 0, step, 2 * step ...
struct Keys {
  unsigned kinds, step;
  unsigned bins() const { return kinds * step; }
};

std::vector<int> keys_of(const lab::Trial& at, const Keys& keys) {
  std::vector<int> x = lab::ints_of(at);
  const auto kinds = static_cast<int>(keys.kinds), step = static_cast<int>(keys.step);
  for (int& key : x) key = (key % kinds + kinds) % kinds * step;
  return x;
}

std::vector<unsigned> counted(const std::vector<int>& x, const Keys& keys) {
  std::vector<unsigned> bins(keys.bins(), 0);
  for (const int key : x) bins[static_cast<std::size_t>(key)] += 1;
  return bins;
}

// What the launch of so many threads may ask for.
template <class Seen>
void expect_one_match(const Seen& seen, const std::vector<int>& keys) {
  const std::size_t n = keys.size();
  std::size_t different = 0;  // keys in each warp, summed
  for (std::size_t first = 0; first < n; first += 32) {
    std::set<int> of_warp;
    for (std::size_t i = first; i < n && i < first + 32; ++i) of_warp.insert(keys[i]);
    different += of_warp.size();
  }
  const auto atomics = seen.atomics();
  lab::exactly("lanes that add to a bin", atomics.lanes, different,
               "one for each key that a warp has");
  lab::exactly("atomic requests of all warps", atomics.requests, div_up(n, 32),
               "one of each warp with elements, for all of its keys");
  lab::exactly("lanes that load a key", seen.loads().lanes, n, "each key is loaded once");
  lab::exactly("requests of warps for keys", seen.loads().requests, div_up(n, 32),
               "the lanes of a warp load together");
  lab::exactly("requests to shared memory", seen.shared().requests, 0,
               "the lanes agree by warp operations");
  lab::at_most("votes, shuffles and matches of one lane", seen.exchanges_of_busiest_thread, 2,
               "one match finds all equal keys; a vote before it may say who has an element");
  lab::at_most("keys that one lane loads", seen.bytes_loaded_by_busiest_thread() / sizeof(int), 1,
               "one element a thread");
}

}  // namespace

TEST_CASE("every key is counted, by one atomic request of each warp") {
  const std::vector<Keys> all_keys = {
      {20, 1},
      {1, lab::drawn(1, 9)},  // all lanes of a warp have it
      {lab::drawn(21, 31), 1},
      {lab::drawn(33, 150), lab::drawn(1, 9)},
      {lab::drawn(3, 5), lab::drawn(17000, 19000)},
      {3, 1u << 16},  // whose lower 16 bits are equal
  };
  for (const Keys& of_run : all_keys) {
    const unsigned block = 32 * lab::drawn(1, 8), large = 32 * lab::drawn(9, 32);
    lab::Trials()
        .sizes({32, 31, 33, 1, 257, 1000, lab::drawn(1024, 3000), 0})
        .blocks({block == 96 ? 64u : 96u, large, block})
        .run([&](const lab::Trial& at) {
          const std::vector<int> keys = keys_of(at, of_run);
          const std::vector<unsigned> expected = counted(keys, of_run);
          const lab::Array<int> d_keys(keys);
          const lab::Array<unsigned> bins(std::vector<unsigned>(of_run.bins(), 0));
          const auto blocks =
              static_cast<unsigned>(std::max<std::size_t>(1, div_up(at.n, at.block)));
          lab::count(
              [&] {
                count_keys<<<blocks, at.block>>>(d_keys.get(), at.n, bins.get());
                CUDA_CHECK_LAUNCH();
              },
              [&] { lab::expect_equal("bins", bins.download(), expected); },
              [&](const auto& seen) { expect_one_match(seen, keys); });
        });
  }
}

TEST_CASE("keys that no float tells apart are counted apart") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    // From 2^24 on a float holds every other whole number. One more than a multiple of 4 is rounded
    // down to it; one more than another even number would be rounded up.
    const unsigned first = (1u << 24) + 4 * lab::drawn(0, 499);
    std::vector<int> keys(lab::drawn(33, 64));
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(first + i % 2);
    const Keys of_run = {first + 2, 1};
    const lab::Array<int> d_keys(keys);
    const lab::Array<unsigned> bins(std::vector<unsigned>(of_run.bins(), 0));
    count_keys<<<1, 64>>>(d_keys.get(), keys.size(), bins.get());
    CUDA_CHECK_LAUNCH();
    const std::vector<unsigned> all = bins.download(), expected = counted(keys, of_run);
    for (const unsigned key : {first, first + 1}) {
      lab::expect_equal("bins[" + std::to_string(key) + "]", all[key], expected[key]);
    }
  });
}

TEST_CASE("more than 2^16 elements are counted") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    lab::Trial at;
    at.n = lab::drawn(140000, 150000);
    const Keys two = {2, 1};  // of each more than 2^16, too
    const std::vector<int> keys = keys_of(at, two);
    const lab::Array<int> d_keys(keys);
    const lab::Array<unsigned> bins(std::vector<unsigned>(two.bins(), 0));
    const auto blocks = static_cast<unsigned>(div_up(at.n, 256));
    lab::count(
        [&] {
          count_keys<<<blocks, 256>>>(d_keys.get(), at.n, bins.get());
          CUDA_CHECK_LAUNCH();
        },
        [&] {
          lab::expect_equal("bins of " + std::to_string(at.n) + " keys, 0 or 1", bins.download(),
                            counted(keys, two));
        },
        [&](const auto& seen) { expect_one_match(seen, keys); });
  });
}
