// SPDX-License-Identifier: MIT
// STARTER FAILS: every thread leaves its share of the dot product
#include <algorithm>

#include "common/labs/counts.cuh"
#include "common/labs/dealt.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

std::size_t wave_of(unsigned block) {
  int per_sm = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, dot_of_share,
                                                           static_cast<int>(block), 0));
  return static_cast<std::size_t>(per_sm) *
         static_cast<std::size_t>(device_attribute(cudaDevAttrMultiProcessorCount, 0));
}

std::vector<long long> sums_of_threads(const std::vector<int>& x, const std::vector<int>& y,
                                       std::size_t threads) {
  std::vector<long long> sums(threads, 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums[i % threads] += static_cast<long long>(x[i]) * y[i];
  }
  return sums;
}

std::vector<int> values(const lab::Trial& at, std::uint64_t seed) {
  return random_ints(at.n, -100000, 100000, seed);
}

// `wanted` is for each of the two arrays.
template <class Seen>
void expect_own_shares(const Seen& seen, const lab::DealtLoads& wanted, std::size_t rounds,
                       const std::string& whose) {
  const auto of_x_and_y = lab::loads_of_ints(seen);
  lab::exactly("elements of x and y that " + whose + " load", of_x_and_y.lanes, 2 * wanted.elements,
               "each thread loads its own share, once");
  lab::at_most("load requests of " + whose, of_x_and_y.requests, 2 * wanted.requests,
               "the lanes of a warp load neighbours, in one request");
  lab::at_most("elements of x and y that one warp loads", seen.loads_of_busiest_warp(sizeof(int)),
               2 * wanted.of_warp, "no warp works for another");
  lab::expect_own_rounds(seen, 2 * rounds);
}

bool shares_are_right = true;  // in all tries of the first test case

}  // namespace

TEST_CASE("every thread leaves its share of the dot product") {
  lab::Trials()
      .sizes({1, 31, 32, 33, 127, 256, 257, 1000, 1023, 2053, lab::drawn(2054, 4096), 0})
      .blocks({32, 96, 250, 1024, lab::drawn(33, 1023)})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        const bool were_right = shares_are_right;
        shares_are_right = false;  // until this try has come to its end
        const std::vector<int> x = values(at, 3), y = values(at, 4);
        const lab::Array<int> d_x(x), d_y(y);
        for (const unsigned blocks :
             {1u, 2u, 5u, lab::drawn(6, 12)}) {  // whatever the launch below makes of it
          const std::size_t threads = std::size_t{blocks} * at.block;
          const std::vector<long long> expected = sums_of_threads(x, y, threads);
          const lab::Array<long long> partial(threads);
          const auto launch = [&] {
            dot_of_share<<<blocks, at.block>>>(d_x.get(), d_y.get(), at.n, partial.get());
            CUDA_CHECK_LAUNCH();
          };
          const std::string of_grid = "grid of " + std::to_string(blocks) + ": ";
          lab::count(
              launch, [&] { lab::expect_equal(of_grid + "partial", partial.download(), expected); },
              [&](const auto& seen) {
                expect_own_shares(seen, {at, blocks, blocks}, div_up(at.n, threads), "all warps");
              });
          lab::count_first_block(launch, [&](const auto& seen) {
            expect_own_shares(seen, {at, blocks, 1}, div_up(at.n, threads), "block 0's warps");
          });
        }
        shares_are_right = were_right;
      });
}

TEST_CASE("the launch is one wave, or less where there are not enough elements") {
  lab::Trials()
      .sizes({1, 32, 33, 1000, 2053, lab::drawn(2054, 4096), lab::drawn(65600, 66000), 300007, 0})
      .blocks({96, 250, 256, 768, 1024, lab::drawn(33, 1023), 32})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        // That takes minutes where every thread loads everything.
        if (at.n > 4096 && !shares_are_right) return;
        const std::size_t needed = std::max<std::size_t>(1, div_up(at.n, at.block));
        const std::size_t wave = std::min(needed, wave_of(at.block));
        const std::vector<int> x = values(at, 5), y = values(at, 6);
        const lab::Array<int> d_x(x), d_y(y);
        // Room for a launch that is too large.
        const lab::Array<long long> d_partial((needed + wave_of(at.block)) * at.block);
        unsigned blocks = 0;
        const auto launch = [&] {
          blocks = launch_dot(d_x.get(), d_y.get(), at.n, d_partial.get(), at.block);
        };
        const auto results = [&] {
          const int sms = device_attribute(cudaDevAttrMultiProcessorCount, 0);
          lab::exactly(
              "blocks, on a device of " + std::to_string(sms) + (sms == 1 ? " SM" : " SMs"), blocks,
              wave, "a wave is blocks per SM times SMs: the runtime knows both");

          const std::size_t threads = wave * at.block;
          std::vector<long long> partial = d_partial.download();
          partial.resize(threads);
          lab::expect_equal("partial", partial, sums_of_threads(x, y, threads));
        };
        lab::count(launch, results, [&](const auto& seen) {
          lab::exactly("blocks of the launch", seen.grid.x, wave, "as many as launch_dot says");
          lab::exactly("threads of a block", seen.block.x, at.block);
          expect_own_shares(seen, {at, wave, wave}, div_up(at.n, wave * at.block),
                            "all warps of the wave");
        });
      });
}

TEST_CASE("more blocks than 16 bits count share more elements than that") {
  // That takes minutes where every thread loads everything.
  if (!lab::tries_large_sizes() || !shares_are_right) return lab::once([] {});
  lab::Trials()
      .sizes({lab::drawn(4097, 60000), lab::drawn(270000, 280000)})
      // In a block of one thread the first one has nobody to work for.
      .blocks({lab::drawn(2, 4)})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        const unsigned blocks = at.n > 60000 ? lab::drawn(65600, 66000) : lab::drawn(900, 1000);
        const std::vector<int> x = values(at, 7), y = values(at, 8);
        const lab::Array<int> d_x(x), d_y(y);
        const lab::Array<long long> partial(std::size_t{blocks} * at.block);
        const std::vector<long long> expected = sums_of_threads(x, y, partial.size());
        lab::count(
            [&] {
              dot_of_share<<<blocks, at.block>>>(d_x.get(), d_y.get(), at.n, partial.get());
              CUDA_CHECK_LAUNCH();
            },
            [&] {
              lab::expect_equal("grid of " + std::to_string(blocks) + ": partial",
                                partial.download(), expected);
            },
            [&](const auto& seen) {
              expect_own_shares(seen, {at, blocks, blocks}, div_up(at.n, partial.size()),
                                "all warps");
            });
      });
}

// A double holds every whole number up to 2^53; a million of the largest products reach it.
TEST_CASE("a share may have a sum that no double holds") {
  if (!lab::tries_large_sizes() || !shares_are_right) return lab::once([] {});
  lab::once([] {
    const std::size_t n = 1000000 + lab::drawn(1, 999);
    const lab::Array<int> d_x(std::vector<int>(n, 99999));
    const lab::Array<long long> partial(1);
    dot_of_share<<<1, 1>>>(d_x.get(), d_x.get(), n, partial.get());
    CUDA_CHECK_LAUNCH();
    lab::expect_equal(std::to_string(n) + " products of 99999 and 99999, one thread: partial[0]",
                      partial.download()[0], static_cast<long long>(n) * 99999 * 99999);
  });
}

TEST_CASE("the wave is what fits, on this device and for this kernel") {
  constexpr std::size_t kMany = 1 << 20;
  lab::once([] {
    // More elements than any memory holds, and more blocks for them than 32 bits count.
    for (const unsigned block : {32u, lab::drawn(33, 1024)}) {
      for (const unsigned bits : {33u, 37u, 42u, 47u}) {
        const std::string call =
            "blocks_of_one_wave(2^" + std::to_string(bits) + " + 1, " + std::to_string(block) + ")";
        lab::exactly(call, blocks_of_one_wave((std::size_t{1} << bits) + 1, block), wave_of(block),
                     "so many elements need more than a wave");
      }
    }
    // More SMs than 8 bits count, a wave of more blocks than 16 bits count.
    for (const unsigned sms :
         {lab::drawn(129, 255), lab::drawn(257, 1000), lab::drawn(2100, 9000)}) {
      lab::on_a_device_of(sms, [&] {
        lab::exactly("blocks_of_one_wave(2^42 + 1, 32) on a device of more SMs",
                     blocks_of_one_wave((std::size_t{1} << 42) + 1, 32), wave_of(32),
                     "so many elements need more than a wave");
      });
    }
    // With a small share of an SM's memory as shared memory fewer blocks fit on it.
    for (const int percent : {1, 4, 14}) {
      CUDA_CHECK(cudaFuncSetAttribute(dot_of_share, cudaFuncAttributePreferredSharedMemoryCarveout,
                                      percent));
      for (const unsigned block : {32u, 64u, 96u, 128u}) {
        const std::string call =
            "blocks_of_one_wave(" + std::to_string(kMany) + ", " + std::to_string(block) + ")";
        lab::exactly(call + " with less shared memory", blocks_of_one_wave(kMany, block),
                     std::min(div_up(kMany, block), wave_of(block)),
                     "fewer blocks fit on an SM then: the runtime knows how many");
      }
    }
  });
}
