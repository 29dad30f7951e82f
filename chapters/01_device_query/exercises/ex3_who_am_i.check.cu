// SPDX-License-Identifier: MIT
// STARTER FAILS: every thread knows its block, its warp and its lane
#include <algorithm>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// The expected numbers come from counting, without a division.
struct Places {
  std::vector<unsigned> blocks, warps, lanes;

  Places(std::size_t n, unsigned threads) {
    unsigned block = 0, thread = 0, warp = 0, lane = 0;
    while (blocks.size() < n) {
      blocks.push_back(block);
      warps.push_back(warp);
      lanes.push_back(lane);
      if (++lane == 32) lane = 0, ++warp;
      if (++thread == threads) thread = lane = warp = 0, ++block;
    }
  }
};

}  // namespace

TEST_CASE("every thread knows its block, its warp and its lane") {
  lab::Trials()
      .sizes({32, 1, 31, 33, 64, 100, 256, 257, 1000, 2053, lab::drawn(258, 999),
              lab::drawn(2054, 4096), lab::drawn(9000, 12000)})
      .blocks({32, 64, 256, 1024, 1, 33, 100, 250, lab::drawn(2, 31), 32 * lab::drawn(3, 31),
               lab::drawn(257, 1023)})
      .inputs({lab::Input::kIndices})
      .diagnose(
          "only blocks that are no multiple of 32 fail, from the second one on: where do their "
          "warps begin?",
          [](const lab::Trial& r) { return r.block % 32 != 0 && r.n > r.block; })
      .run([](const lab::Trial& at) {
        const Places places(at.n, at.block);
        const lab::Array<unsigned> blocks(at.n), warps(at.n), lanes(at.n);
        const auto launch = [&] {
          launch_note_places(at.n, at.block, blocks.get(), warps.get(), lanes.get());
        };
        lab::Copied copied;
        lab::count(
            [&] { copied = lab::copied_by(launch, blocks, warps, lanes); },
            [&] {
              lab::expect_equal("blocks", blocks.download(), places.blocks);
              lab::expect_equal("warps", warps.download(), places.warps);
              lab::expect_equal("lanes", lanes.download(), places.lanes);
            },
            [&](const auto& seen) {
              lab::exactly("threads in a block", seen.block.x, at.block);
              lab::exactly("blocks of the launch", seen.grid.x, div_up(at.n, at.block),
                           "enough to have n threads, and no more");
              lab::exactly("loads of all threads together", seen.loads().lanes, 0,
                           "a thread knows where it is without reading anything");
              lab::exactly("stores of all threads together", seen.stores().lanes, 3 * at.n,
                           "every thread below n writes its three numbers");
              lab::exactly("stores, counting a warp's 32 threads as one", seen.stores().requests,
                           3 * lab::warps_at_work(at.n, at.block),
                           "each thread writes its own numbers, at the same time as its warp");
              const std::size_t lanes = std::min<std::size_t>({at.n, at.block, 32});
              lab::at_most("bytes that one thread stores", seen.bytes_stored_by_busiest_thread(),
                           3 * sizeof(unsigned), "each thread writes its own three numbers");
              lab::at_most("stores of one warp", seen.stores_of_busiest_warp(sizeof(unsigned)),
                           3 * lanes, "no warp writes another's numbers");
              lab::exactly("bytes of the three arrays that were copied", copied.of_arrays, 0,
                           "each thread finds its numbers itself");
            });
      });
}

// A million threads: no number of 16 bits counts them, and what they print would fill pages.
TEST_CASE("a million threads know their places, and print nothing") {
  if (!lab::tries_large_sizes()) return lab::once([] {});
  lab::Trials()
      .sizes({(1 << 20) + lab::drawn(1, 999)})
      // In a block of one thread the first one has nobody to work for.
      .blocks({lab::drawn(2, 12)})
      .inputs({lab::Input::kIndices})
      .run([](const lab::Trial& at) {
        const Places places(at.n, at.block);
        const lab::Array<unsigned> blocks(at.n), warps(at.n), lanes(at.n);
        lab::Copied copied;
        const auto launch = [&] {
          launch_note_places(at.n, at.block, blocks.get(), warps.get(), lanes.get());
        };
        lab::count_some_blocks(
            30, [&] { copied = lab::copied_by(launch, blocks, warps, lanes); },
            [&] {
              lab::expect_equal("blocks", blocks.download(), places.blocks);
              lab::expect_equal("warps", warps.download(), places.warps);
              lab::expect_equal("lanes", lanes.download(), places.lanes);
            },
            [&](const auto& seen) {
              lab::exactly("blocks of the launch", seen.grid.x, div_up(at.n, at.block),
                           "enough to have n threads, and no more");
              lab::exactly("loads of all threads together", seen.loads().lanes, 0,
                           "a thread knows where it is without reading anything");
              lab::at_most("bytes that one thread stores", seen.bytes_stored_by_busiest_thread(),
                           3 * sizeof(unsigned), "each thread writes its own three numbers");
              lab::exactly("bytes of the three arrays that were copied", copied.of_arrays, 0,
                           "each thread finds its numbers itself");
            });
      });
}
