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

// Values whose sum leaves 32 bits: any int, or negative ones. Indices show which were taken.
std::vector<int> values_of(const lab::Trial& at) {
  if (at.input == lab::Input::kIndices) return lab::ints_of(at);
  return random_ints(at.n, INT_MIN, at.input == lab::Input::kNegative ? -1 : INT_MAX, 7 + at.n);
}

// Requests to shared memory of one block_sum.
[[maybe_unused]] std::size_t requests_of_block_sum(unsigned block) {
  std::size_t requests = 2 * div_up(block, 32);  // each thread's own value, and the sum
  for (unsigned half = block / 2; half > 0; half /= 2) requests += 3 * div_up(half, 32);
  return requests;
}

// What the launch may ask for.
template <class Seen>
void expect_shared_work(const Seen& seen, std::size_t n, unsigned grid, unsigned block) {
  const std::string blocks = std::to_string(grid) + (grid > 1 ? " blocks" : " block");
  const unsigned lanes = std::min(block, 32u);  // of a warp
  lab::between("atomics of " + blocks, seen.atomics().lanes, grid, grid + 1,
               "each block draws one ticket, and none waits for another; one atomic more may reset "
               "it");
  lab::between("loads of " + blocks, seen.loads().lanes, n + grid - 1, n + grid,
               "each element is loaded once, and the last block loads the partial sums");
  lab::at_most("loads of " + blocks + ", counting a warp's 32 threads as one",
               seen.loads().requests, div_up(n, lanes) + div_up(grid, lanes),
               "the threads of all blocks share the elements, those of the last block the partial "
               "sums");
  lab::at_most("stores of " + blocks, seen.stores().lanes, grid + 2,
               "each block leaves its partial sum, the last one the result; one store more may "
               "reset the ticket");
  // Beside block_sum each thread reads `last`, which one has written. The last block adds twice.
  lab::at_most("requests of " + blocks + " to shared memory", seen.shared().requests,
               (grid + 2) * requests_of_block_sum(block) + grid * (div_up(block, 32) + 1),
               "the threads of the last block share the additions too, as block_sum does");
}

}  // namespace

TEST_CASE("every launch leaves the sum of all elements") {
  lab::Trials()
      .sizes({1, 33, 256, 1000, lab::drawn(1025, 4000), 0, lab::drawn(66000, 70000)})
      .blocks({32, 1u << lab::drawn(0, 4), 1u << lab::drawn(6, 7), 256})
      .inputs({lab::Input::kRandom, lab::Input::kIndices, lab::Input::kNegative})
      .run([&](const lab::Trial& at) {
        const std::vector<int> x = values_of(at);
        const long long expected = std::accumulate(x.begin(), x.end(), 0LL);

        // The same grid again, more blocks than a block has threads, one block, fewer than before.
        const unsigned many = std::max(at.block, 128u) + lab::drawn(1, 70), few = lab::drawn(2, 9);
        std::vector<unsigned> grids = {3, 3, many, 1, few};
        if (at.input != lab::Input::kRandom) grids = {3, 3, 1, few};

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
              [&](const auto& seen) { expect_shared_work(seen, at.n, grid, at.block); });
        }
      });
  lab::on_a_gpu(expect_speed);
}

TEST_CASE("more than 2^16 blocks find the last one") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const unsigned grid = lab::drawn(65537, 67000);
    const std::vector<int> x(grid, INT_MAX);
    const lab::Array<int> d_x(x);
    const lab::Array<unsigned> ticket(std::vector<unsigned>{0});
    const lab::Array<long long> partials(grid), result(1);
    lab::count(
        [&] {
          sum_all<<<grid, 2>>>(d_x.get(), x.size(), partials.get(), ticket.get(), result.get());
          CUDA_CHECK_LAUNCH();
        },
        [&] {
          lab::expect_equal("*result of " + std::to_string(grid) + " blocks", result.download()[0],
                            static_cast<long long>(x.size()) * INT_MAX);
        },
        [&](const auto& seen) { expect_shared_work(seen, x.size(), grid, 2); });
  });
}
