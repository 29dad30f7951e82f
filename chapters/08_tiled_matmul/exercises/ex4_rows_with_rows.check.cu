// SPDX-License-Identifier: MIT
// STARTER FAILS: every element of C is the product of a row of A and a row of B
// TOO SLOW: no_tiles, rows_of_b_that_meet_in_a_bank
#include <algorithm>
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

// What the launch may ask for, with tiles of this side.
template <class Seen>
void expect_shared_work(const Seen& seen, const lab::DeviceMatrix& d_a,
                        const lab::DeviceMatrix& d_b, unsigned tile) {
  const Matrix a = d_a.view(), b = d_b.view();
  const std::size_t rows = a.height, columns = b.height, depth = a.width;
  const std::size_t across = div_up(columns, tile), down = div_up(rows, tile);
  const std::size_t steps = div_up(depth, tile), slots = 2 * across * down * steps * tile * tile;
  lab::exactly("blocks along x", seen.grid.x, across, "one for each tile of C in a row of tiles");
  lab::exactly("blocks along y", seen.grid.y * seen.grid.z, down, "one for each row of tiles of C");
  lab::between("elements that all threads load from memory", seen.loads().lanes,
               depth * (rows * across + columns * down), slots,
               "each block loads its rows of A and of B once: in each step a thread brings one "
               "element of each");
  lab::at_most("loads from memory, counting a warp's 32 threads as one", seen.loads().requests,
               slots / 32, "every thread brings its own two elements");
  lab::at_most("elements that one warp loads", seen.loads_of_busiest_warp(sizeof(float)),
               2 * 32 * steps, "every thread brings its own two elements");
  lab::at_most("sectors of these loads", seen.loads().sectors,
               d_a.sectors_of_pieces(tile) * across + d_b.sectors_of_pieces(tile) * down,
               "those of " + std::to_string(tile) +
                   " neighbours in a row: " + std::to_string(tile / 8 + 1) + " at most");
  lab::expect_own_part_of_tiles(seen, tile, steps);
  lab::exactly("elements of C that are stored", seen.stores().lanes, rows * columns,
               "each once, when its sum is complete: until then it is in a register");
  lab::at_most("elements of C that one warp stores", seen.stores_of_busiest_warp(sizeof(float)), 32,
               "each by its own thread");
  lab::at_most("barriers that a thread passes", seen.barriers_of_busiest_block, 2 * steps,
               "two in each step: one before the tiles are read, one before they are overwritten");
  lab::at_most("bytes of shared memory that a block has", seen.shared_bytes,
               4 * tile * (tile + 1) * sizeof(float),
               "two tiles, or two pairs of them, with padding");
  const auto shared = seen.shared();
  if (tile == 32) {
    lab::at_most("wavefronts of all requests to shared memory", shared.wavefronts,
                 shared.ideal_wavefronts, "one for each request: no two lanes meet in a bank");
  }
}

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

// Long sides take their time: what is counted depends on no order of threads, so one is enough, and
// the run that looks for races.
// Of shapes with two long sides one tile is enough, and one gap.
constexpr unsigned kLong = 131;
bool takes_too_long(const lab::Trial& at) {
  const bool is_tried = lab::tries_large_sizes() || races_are_looked_for();
  return std::max({at.rows, at.columns, at.depth}) > 65 && !is_tried;
}
bool has_two_long_sides(const lab::Trial& at) {
  return (at.rows >= kLong) + (at.columns >= kLong) + (at.depth >= kLong) == 2;
}

}  // namespace

TEST_CASE("every element of C is the product of a row of A and a row of B") {
  const unsigned block_of_long_sides =
      std::vector<unsigned>{8 * 8, 16 * 16, 32 * 32}[lab::drawn(0, 2)];
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
               {lab::drawn(66, 100), lab::drawn(66, 100), lab::drawn(66, 100)},
               {lab::drawn(1, 31), lab::drawn(200, 400), lab::drawn(1, 31)},
               {lab::drawn(200, 400), lab::drawn(1, 31), lab::drawn(1, 31)},
               {lab::drawn(1, 9), lab::drawn(1, 9), lab::drawn(300, 1500)},
               {lab::drawn(kLong, 200), lab::drawn(kLong, 200), lab::drawn(1, 9)},
               {lab::drawn(kLong, 200), lab::drawn(1, 9), lab::drawn(kLong, 200)},
               {lab::drawn(1, 9), lab::drawn(kLong, 200), lab::drawn(kLong, 200)}})
      .blocks({8 * 8, 16 * 16, 32 * 32})
      .diagnose(
          "one step of the walk is right, several are not: where does the next tile begin, "
          "and who may still be reading the last one?",
          [](const lab::Trial& r) { return r.depth * r.depth > r.block; })
      .run([&](const lab::Trial& at) {
        if (takes_too_long(at)) return;
        if (has_two_long_sides(at) && at.block != block_of_long_sides) return;
        const Rows rows(at.rows, at.columns, at.depth);
        const std::vector<double>& expected = rows.expected;
        const auto tolerance = [&](std::size_t i) { return rows.bounds[i]; };

        const unsigned tile = at.block == 64 ? 8 : at.block == 256 ? 16 : 32;
        for (const std::size_t gap : {std::size_t{0}, std::size_t{lab::drawn(2, 40)}}) {
          if (has_two_long_sides(at) && gap == 0) continue;
          const lab::DeviceMatrix d_a(rows.a, at.rows, at.depth, gap);
          const lab::DeviceMatrix d_b(rows.b, at.columns, at.depth, gap);
          const lab::DeviceMatrix c(at.rows, at.columns, gap);
          const std::string name =
              gap == 0 ? "C" : "C (rows " + std::to_string(gap) + " elements further apart)";
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
                expect_shared_work(seen, d_a, d_b, tile);
                lab::exactly("bytes of A, B and C that were copied", copied.of_arrays, 0,
                             "the kernel reads and writes them where they are");
              });
        }
      });
  lab::on_a_gpu(expect_speed);
}

TEST_CASE("sides past 2^16 are right") {
  if (!lab::tries_large_sizes()) return lab::once([] {});
  lab::Trials()
      // The last one has more than 2^16 blocks in a row.
      .shapes({{66000, 3, 2}, {3, 66000, 2}, {2, 3, 66000}, {1, 8 * lab::drawn(65600, 66000), 0}})
      .blocks({8 * 8})
      .run([](const lab::Trial& at) {
        const Rows rows(at.rows, at.columns, at.depth);
        const lab::DeviceMatrix d_a(rows.a, at.rows, at.depth, 0);
        const lab::DeviceMatrix d_b(rows.b, at.columns, at.depth, 0);
        const lab::DeviceMatrix c(at.rows, at.columns, 0);
        const auto launch = [&] { launch_multiply_rows(d_a.view(), d_b.view(), c.view(), 8); };
        launch();
        lab::expect_close(
            "C", c.download("C"), rows.expected, [&](std::size_t i) { return rows.bounds[i]; },
            at.columns);
        if (at.depth > 3) return;  // of long walks that is counted above
        lab::count_some_blocks(
            30, launch, [] {},
            [&](const auto& seen) {
              lab::at_most("elements that " + std::to_string(seen.blocks_counted) +
                               " blocks load from memory",
                           seen.loads().lanes, seen.blocks_counted * 2 * 64 * div_up(at.depth, 8),
                           "in each step a thread brings one element of A and one of B");
              lab::expect_own_part_of_tiles(seen, 8, div_up(at.depth, 8));
            });
      });
}
