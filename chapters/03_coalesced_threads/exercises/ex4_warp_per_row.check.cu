// SPDX-License-Identifier: MIT
// STARTER FAILS: every lane leaves the sum of its columns
// TOO SLOW: one_thread_per_row
#include <climits>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/speed.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

constexpr std::size_t kSector = 32 / sizeof(int);

// As far as it can be seen in some of the blocks.
template <class Seen>
void expect_own_work(const Seen& seen, std::size_t columns) {
  lab::at_most("elements that one warp loads", seen.loads_of_busiest_warp(sizeof(int)), columns,
               "each row has a warp of its own");
  lab::at_most("elements that one lane loads", seen.bytes_loaded_by_busiest_thread() / sizeof(int),
               div_up(columns, 32), "columns l, l + 32, l + 64, ... for lane l");
  lab::expect_nothing_handed_over(seen);
}

// What the warps of the first `rows` rows have to load.
struct Wanted {
  std::size_t rows, columns, elements, requests = 0, sectors = 0;

  Wanted(const lab::Trial& at, std::size_t rows)
      : rows(rows), columns(at.columns), elements(rows * at.columns) {
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t c = 0; c < at.columns; c += 32) {
        const std::size_t first = row * at.columns + c;
        const std::size_t last = row * at.columns + std::min(c + 32, at.columns) - 1;
        requests += 1;
        sectors += last / kSector - first / kSector + 1;
      }
    }
  }

  template <class Seen>
  void compare(const Seen& seen, const std::string& whose) const {
    lab::exactly("elements that " + whose + " load", seen.loads().lanes, elements,
                 "each is loaded once, by the lane that adds it");
    lab::at_most("sectors that " + whose + " ask for", seen.loads().sectors, sectors,
                 "the sectors under each stretch of 32 columns, once for the whole warp");
    lab::at_most("load requests of " + whose, seen.loads().requests, requests,
                 "a request of the row's warp for each stretch of 32 columns");
    expect_own_work(seen, columns);
    lab::exactly("sums that " + whose + " store", seen.stores().lanes, rows * 32,
                 "each lane stores its own, once");
    lab::exactly("store requests of " + whose, seen.stores().requests, rows,
                 "the 32 lanes of a warp store their 32 sums at the same time, in one request");
  }
};

std::vector<long long> sums_of_lanes(const std::vector<int>& x, std::size_t rows,
                                     std::size_t columns) {
  std::vector<long long> sums(rows * 32, 0);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i / columns * 32 + i % columns % 32] += x[i];
  return sums;
}

// Rows of 4 KiB: a lane adds 32 elements.
void expect_speed() {
  constexpr std::size_t kColumns = 1024, kRows = lab::kSpeedBytes / (kColumns * sizeof(int));
  const std::vector<int> x = random_ints(kRows * kColumns, -999, 999, 5);
  const std::vector<long long> expected = sums_of_lanes(x, kRows, kColumns);
  const lab::Array<int> d_x(x);
  const lab::Array<long long> partial(expected.size());
  lab::reach(
      {40, lab::read_bound(), lab::kSpeedBytes / 1e9, "GB/s"},
      [&] { launch_sum_of_rows(d_x.get(), kRows, kColumns, partial.get(), 256); },
      [&] { lab::expect_equal("partial", partial.download(), expected); });
}

}  // namespace

TEST_CASE("every lane leaves the sum of its columns") {
  lab::Trials()
      .shapes({{1, 32, 0},
               {1, 1, 0},
               {2, 31, 0},
               {3, 33, 0},
               {32, 32, 0},
               {5, 100, 0},
               {1, 0, 0},
               {70, 0, 0},
               {33, 64, 0},
               {64, 7, 0},
               {130, 45, 0},
               // Larger than those, in one direction and in both.
               {lab::drawn(131, 400), lab::drawn(1, 31), 0},
               {lab::drawn(1, 9), lab::drawn(400, 3000), 0},
               {lab::drawn(34, 90), lab::drawn(101, 300), 0}})
      .blocks({32, 64, 96, 256, 1024, 32 * lab::drawn(4, 31)})
      .diagnose(
          "only rows that do not end with a full warp fail: what do the lanes past the end do?",
          [](const lab::Trial& r) { return r.columns % 32 != 0; })
      .diagnose("only launches with more warps than rows fail: what do the last warps do?",
                [](const lab::Trial& r) { return r.rows * 32 % r.block != 0; })
      .diagnose("only blocks of more than one warp fail: which row is the second warp's?",
                [](const lab::Trial& r) { return r.block > 32 && r.rows > 1; })
      .diagnose("only matrices with more rows than columns or fewer fail: how long is a row?",
                [](const lab::Trial& r) { return r.rows != r.columns && r.rows > 1; })
      .run([](const lab::Trial& at) {
        const std::vector<int> x =
            random_ints(at.rows * at.columns, INT_MIN, INT_MAX, 5 + at.rows + at.columns);
        const std::vector<long long> expected = sums_of_lanes(x, at.rows, at.columns);
        const lab::Array<int> d_x(x);
        const lab::Array<long long> partial(expected.size());
        const auto launch = [&] {
          launch_sum_of_rows(d_x.get(), at.rows, at.columns, partial.get(), at.block);
        };
        lab::Copied copied;
        lab::count([&] { copied = lab::copied_by(launch, d_x, partial); },
                   [&] { lab::expect_equal("partial", partial.download(), expected); },
                   [&](const auto& seen) {
                     lab::exactly("threads of a block", seen.block.x, at.block);
                     lab::exactly("blocks of the launch", seen.grid.x,
                                  div_up(at.rows * 32, at.block),
                                  "enough to give each row a warp, and no more");
                     Wanted(at, at.rows).compare(seen, "all warps together");
                     lab::exactly("bytes of x and partial that were copied", copied.of_arrays, 0,
                                  "the kernel reads and writes them where they are");
                   });
        lab::count_first_block(launch, [&](const auto& seen) {
          const std::size_t rows = std::min<std::size_t>(at.rows, at.block / 32);
          Wanted(at, rows).compare(seen, "the first block's warps");
        });
      });
  lab::on_a_gpu(expect_speed);
}

TEST_CASE("sums that no int holds are right, in many rows and in long ones") {
  if (!lab::tries_large_sizes()) return lab::once([] {});
  lab::Trials()
      .shapes({{1, lab::drawn(65600, 66000), 0}, {lab::drawn(65600, 66000), 1, 0}})
      .blocks({32})
      .run([](const lab::Trial& at) {
        const std::vector<int> x = random_ints(at.rows * at.columns, INT_MAX - 999, INT_MAX, 6);
        const std::vector<long long> expected = sums_of_lanes(x, at.rows, at.columns);
        const lab::Array<int> d_x(x);
        const lab::Array<long long> partial(expected.size());
        lab::count_some_blocks(
            30,
            [&] { launch_sum_of_rows(d_x.get(), at.rows, at.columns, partial.get(), at.block); },
            [&] { lab::expect_equal("partial", partial.download(), expected); },
            [&](const auto& seen) {
              lab::exactly("blocks of the launch", seen.grid.x, div_up(at.rows * 32, at.block),
                           "enough to give each row a warp, and no more");
              expect_own_work(seen, at.columns);
            });
      });
}
