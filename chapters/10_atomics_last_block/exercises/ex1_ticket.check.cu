// SPDX-License-Identifier: MIT
// STARTER FAILS: every launch leaves the sum of all elements
// TOO SLOW: all_added_again_by_the_last_block
#include <climits>
#include <numeric>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/speed.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// As many blocks as run at once.
void expect_speed() {
  constexpr std::size_t n = lab::kSpeedBytes / sizeof(int);
  constexpr unsigned kBlock = 256;
  const auto grid = static_cast<unsigned>(blocks_held(sum_all, kBlock));
  const std::vector<int> x = random_ints(n, -99, 99, 7);
  const long long expected = std::accumulate(x.begin(), x.end(), 0LL);
  const lab::Array<int> d_x(x);
  const lab::Array<unsigned> ticket(std::vector<unsigned>{0});
  const lab::Array<long long> partials(grid), result(1);
  const auto launch = [&] {
    sum_all<<<grid, kBlock>>>(d_x.get(), n, partials.get(), ticket.get(), result.get());
    CUDA_CHECK_LAUNCH();
  };
  lab::reach({40, lab::read_bound(), lab::kSpeedBytes / 1e9, "GB/s"}, launch,
             [&] { lab::expect_equal("*result", result.download()[0], expected); });
}

}  // namespace

namespace {

// Values whose sum leaves 32 bits: any int, or negative ones. Indices show which were taken.
std::vector<int> values_of(const lab::Trial& at) {
  if (at.input == lab::Input::kIndices) return lab::ints_of(at);
  return random_ints(at.n, INT_MIN, at.input == lab::Input::kNegative ? -1 : INT_MAX, 7 + at.n);
}

}  // namespace

TEST_CASE("every launch leaves the sum of all elements") {
  // The same grid again, more blocks than a block has threads, one block, fewer than before.
  const std::vector<unsigned> grids = {3, 3, lab::drawn(129, 200), 1, lab::drawn(2, 9)};
  lab::Trials()
      .sizes({1, 33, 256, 1000, lab::drawn(1025, 4000), 0})
      .blocks({32, 128})
      .inputs({lab::Input::kRandom, lab::Input::kIndices, lab::Input::kNegative})
      .run([&](const lab::Trial& at) {
        const std::vector<int> x = values_of(at);
        const long long expected = std::accumulate(x.begin(), x.end(), 0LL);

        const lab::Array<int> d_x(x);
        const lab::Array<unsigned> ticket(std::vector<unsigned>{0});
        int launch = 0;
        for (const unsigned grid : grids) {
          const std::string blocks = std::to_string(grid) + (grid > 1 ? " blocks" : " block");
          const lab::Array<long long> partials(grid), result(1);
          lab::count(
              [&] {
                sum_all<<<grid, at.block>>>(d_x.get(), at.n, partials.get(), ticket.get(),
                                            result.get());
                CUDA_CHECK_LAUNCH();
              },
              [&] {
                const std::string which =
                    std::to_string(++launch) + (grid > 1 ? ", of " : ", of only ");
                lab::expect_equal("*result after launch " + which + blocks, result.download()[0],
                                  expected);
              },
              [&](const auto& seen) {
                lab::between(
                    "atomics of " + blocks, seen.atomics().lanes, grid, grid + 1,
                    "each block draws one ticket, and none waits for another; one atomic more "
                    "may reset it");
                lab::between(
                    "loads of " + blocks, seen.loads().lanes, at.n + grid - 1, at.n + grid,
                    "each element is loaded once, and the last block loads the partial sums");
                lab::at_most("loads of " + blocks + ", counting a warp's 32 threads as one",
                             seen.loads().requests, div_up(at.n, 32) + div_up(grid, 32),
                             "the threads of all blocks share the elements, those of the last "
                             "block the partial sums");
              });
        }
      });
  lab::on_a_gpu(expect_speed);
}

TEST_CASE("more than 2^16 blocks find the last one") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const unsigned grid = lab::drawn(65537, 67000);
    const std::vector<int> x(std::size_t{grid} * 32, INT_MAX);
    const lab::Array<int> d_x(x);
    const lab::Array<unsigned> ticket(std::vector<unsigned>{0});
    const lab::Array<long long> partials(grid), result(1);
    sum_all<<<grid, 32>>>(d_x.get(), x.size(), partials.get(), ticket.get(), result.get());
    CUDA_CHECK_LAUNCH();
    lab::expect_equal("*result of " + std::to_string(grid) + " blocks", result.download()[0],
                      static_cast<long long>(x.size()) * INT_MAX);
  });
}
