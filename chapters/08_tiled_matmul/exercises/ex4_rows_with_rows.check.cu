// SPDX-License-Identifier: MIT
// STARTER FAILS: every element of C is the product of a row of A and a row of B
// TOO SLOW: no_tiles, rows_of_b_that_meet_in_a_bank
#include <atomic>
#include <chrono>
#include <thread>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/matrices.cuh"
#include "common/labs/speed.cuh"
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

// Random rows, and what they give.
struct Rows {
  Rows(std::size_t m, std::size_t n, std::size_t k)
      : a(random_floats(m * k, -1, 1, 5)), b(random_floats(n * k, -1, 1, 6)), columns_of_b(n * k) {
    for (std::size_t i = 0; i < b.size(); ++i) columns_of_b[i % k * n + i / k] = b[i];
    expected = multiply_on_host(a, columns_of_b, m, n, k);
    bounds = product_bounds(a, columns_of_b, m, n, k);
  }
  std::vector<float> a, b, columns_of_b;
  std::vector<double> expected, bounds;
};

// Every element that is loaded is used 32 times: the arithmetic decides, and the trips to shared
// memory for what it takes.
void expect_speed() {
  constexpr std::size_t kSide = 1024;
  const Rows rows(kSide, kSide, kSide);
  const auto tolerance = [&](std::size_t i) { return rows.bounds[i]; };
  const lab::DeviceMatrix d_a(rows.a, kSide, kSide, 0), d_b(rows.b, kSide, kSide, 0);
  const lab::DeviceMatrix c(kSide, kSide, 0);
  constexpr double kOperations = 2.0 * kSide * kSide * kSide;
  lab::reach(
      {6, lab::fp32_bound(), kOperations / 1e9, "GFLOP/s"},
      [&] { launch_multiply_rows(d_a.view(), d_b.view(), c.view(), 32); },
      [&] { lab::expect_close("C", c.download("C"), rows.expected, tolerance, kSide); });
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
               {33, 34, 65},
               {5, 7, 0},
               // Larger than what was tried before, and long in one direction.
               {lab::drawn(66, 130), lab::drawn(66, 130), lab::drawn(66, 130)},
               {lab::drawn(1, 31), lab::drawn(200, 400), lab::drawn(1, 31)},
               {lab::drawn(200, 400), lab::drawn(1, 31), lab::drawn(1, 31)},
               {lab::drawn(1, 9), lab::drawn(1, 9), lab::drawn(300, 700)}})
      .blocks({8 * 8, 16 * 16, 32 * 32})
      .diagnose(
          "one step of the walk is right, several are not: where does the next tile begin, "
          "and who may still be reading the last one?",
          [](const lab::Trial& r) { return r.depth * r.depth > r.block; })
      .run([](const lab::Trial& at) {
        const Rows rows(at.rows, at.columns, at.depth);
        const std::vector<double>& expected = rows.expected;
        const auto tolerance = [&](std::size_t i) { return rows.bounds[i]; };

        const unsigned tile = at.block == 64 ? 8 : at.block == 256 ? 16 : 32;
        for (const std::size_t gap : {std::size_t{0}, std::size_t{lab::drawn(1, 40)}}) {
          const lab::DeviceMatrix d_a(rows.a, at.rows, at.depth, gap);
          const lab::DeviceMatrix d_b(rows.b, at.columns, at.depth, gap);
          const lab::DeviceMatrix c(at.rows, at.columns, gap);
          const std::string name =
              gap == 0 ? "C" : "C (rows " + std::to_string(gap) + " elements further apart)";
          const std::size_t across = div_up(at.columns, tile), down = div_up(at.rows, tile);
          const std::size_t steps = div_up(at.depth, tile),
                            slots = 2 * across * down * steps * tile * tile;
          // A GPU loads a kernel when it is launched first, and may wait for the stream to do so.
          if (kOnGpu) launch_multiply_rows(d_a.view(), d_b.view(), c.view(), tile);
          const auto launch = [&] {
            has_returned = false;
            CUDA_CHECK(cudaLaunchHostFunc(nullptr, until_returned, nullptr));
            launch_multiply_rows(d_a.view(), d_b.view(), c.view(), tile);
            has_returned = true;
          };
          lab::Copied copied;
          lab::count(
              [&] {
                copied = lab::copied_by(launch, d_a.elements(), d_b.elements(), c.elements());
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
                lab::exactly("elements of C that are stored", seen.stores().lanes,
                             at.rows * at.columns,
                             "each once, when its sum is complete: until then it is in a register");
                lab::exactly("bytes of A, B and C that were copied", copied.of_arrays, 0,
                             "the kernel reads and writes them where they are");
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
  lab::on_a_gpu(expect_speed);
}

TEST_CASE("sides past 2^16 are right") {
  if (!lab::tries_large_sizes()) return lab::once([] {});
  lab::Trials()
      .shapes({{66000, 3, 2}, {3, 66000, 2}, {2, 3, 66000}})
      .blocks({8 * 8})
      .run([](const lab::Trial& at) {
        const Rows rows(at.rows, at.columns, at.depth);
        const lab::DeviceMatrix d_a(rows.a, at.rows, at.depth, 0);
        const lab::DeviceMatrix d_b(rows.b, at.columns, at.depth, 0);
        const lab::DeviceMatrix c(at.rows, at.columns, 0);
        launch_multiply_rows(d_a.view(), d_b.view(), c.view(), 8);
        lab::expect_close(
            "C", c.download("C"), rows.expected, [&](std::size_t i) { return rows.bounds[i]; },
            at.columns);
      });
}
