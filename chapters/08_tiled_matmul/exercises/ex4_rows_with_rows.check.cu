// SPDX-License-Identifier: MIT
// STARTER FAILS: every element of C is the product of a row of A and a row of B
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/lab_counts.cuh"
#include "tests/lab_matrices.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// Work that lies on the stream before the learner's launch, and lasts until the call has returned:
// who wants to see B on the host first has to wait for it. It gives up after 3 s, and then for
// good.
std::atomic<bool> has_returned, was_waited_for;

void until_returned(void*) {
  for (int ms = 0; !has_returned && !was_waited_for; ++ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (ms == 3000) was_waited_for = true;
  }
}

}  // namespace

TEST_CASE("every element of C is the product of a row of A and a row of B") {
  lab::Trials()
      .shapes({{8, 8, 8},
               {32, 32, 32},
               {1, 1, 1},
               {32, 32, 64},
               {16, 64, 32},
               {40, 9, 33},
               {7, 50, 20},
               {33, 34, 65}})
      .blocks({8 * 8, 16 * 16, 32 * 32})
      .diagnose(
          "one step of the walk is right, several are not: where does the next tile begin, "
          "and who may still be reading the last one?",
          [](const lab::Trial& r) { return r.depth * r.depth > r.block; })
      .run([](const lab::Trial& at) {
        const std::vector<float> a = random_floats(at.rows * at.depth, -1, 1, 5);
        const std::vector<float> b = random_floats(at.columns * at.depth, -1, 1, 6);
        std::vector<float> columns_of_b(b.size());
        for (std::size_t i = 0; i < b.size(); ++i)
          columns_of_b[i % at.depth * at.columns + i / at.depth] = b[i];
        const std::vector<double> expected =
            multiply_on_host(a, columns_of_b, at.rows, at.columns, at.depth);
        const DotProductBound tolerance(a, columns_of_b, at.rows, at.columns, at.depth);

        const unsigned tile = at.block == 64 ? 8 : at.block == 256 ? 16 : 32;
        for (const std::size_t gap : {0, 3}) {
          const lab::DeviceMatrix d_a(a, at.rows, at.depth, gap), d_b(b, at.columns, at.depth, gap);
          const lab::DeviceMatrix c(at.rows, at.columns, gap);
          const std::string name = gap == 0 ? "C" : "C (rows 3 elements further apart)";
          const std::size_t across = div_up(at.columns, tile), down = div_up(at.rows, tile);
          const std::size_t steps = div_up(at.depth, tile),
                            slots = 2 * across * down * steps * tile * tile;
          lab::count(
              [&] {
                has_returned = false;
                CUDA_CHECK(cudaLaunchHostFunc(nullptr, until_returned, nullptr));
                launch_multiply_rows(d_a.view(), d_b.view(), c.view(), tile);
                has_returned = true;
              },
              [&] {
                lab::expect_close(name, c.download(name), expected, tolerance, at.columns);
                lab::expect(!was_waited_for, "launch_multiply_rows",
                            "launches, and returns at once",
                            "waits for the device, as a copy to the host does");
              },
              [&](const auto& seen) {
                lab::exactly("blocks along x", seen.grid.x, across,
                             "one for each tile of C in a row of tiles");
                lab::exactly("blocks along y", seen.grid.y * seen.grid.z, down,
                             "one for each row of tiles of C");
                lab::between("elements that all threads load from memory", seen.loads().lanes,
                             at.depth * (at.rows * across + at.columns * down), slots,
                             "each block loads its rows of A and of B once: in each step a thread "
                             "brings one element of each");
                lab::at_most("loads from memory, counting a warp's 32 threads as one",
                             seen.loads().requests, slots / 32,
                             "every thread brings its own two elements");
                lab::at_most("sectors of these loads", seen.loads().sectors,
                             slots / 32 * (32 / tile) * (tile / 8 + 1),
                             tile == 32 ? "32 neighbours in a row lie in 5 sectors at most"
                                        : std::to_string(tile) + " neighbours in a row lie in " +
                                              std::to_string(tile / 8 + 1) + " sectors at most");
                lab::at_most("barriers that a thread passes", seen.barriers, 2 * steps,
                             "two in each step: one before the tiles are read, one before they are "
                             "overwritten");
                const auto shared = seen.shared();
                if (tile == 32)
                  lab::at_most("wavefronts of all requests to shared memory", shared.wavefronts,
                               shared.ideal_wavefronts,
                               "one for each request: no two lanes meet in a bank");
              });
        }
      });
}
