// SPDX-License-Identifier: MIT
// STARTER FAILS: every thread leaves its share of the dot product
#include <algorithm>

#include "common/labs/counts.cuh"
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

std::vector<int> values(const lab::Trial& at, std::uint64_t seed) {
  return random_ints(at.n, -100000, 100000, seed);
}

// What the first `counted` of `blocks` blocks load of both arrays: each element once, in a request
// for each round in which a warp has one. Loops that take several elements a turn make up to three
// requests more for the rest. No warp loads more than the first.
struct Wanted {
  std::size_t elements = 0, requests = 0, of_warp = 0;

  Wanted(const lab::Trial& at, std::size_t blocks, std::size_t counted) {
    const std::size_t threads = blocks * at.block;
    const unsigned lanes = std::min(at.block, 32u);
    for (std::size_t i = 0; i < at.n; ++i) {
      elements += i % threads < counted * at.block ? 2 : 0;
      of_warp += i % threads < lanes ? 2 : 0;
    }
    for (std::size_t b = 0; b < counted; ++b) {
      for (unsigned warp = 0; warp < at.block; warp += 32) {
        const std::size_t first = b * at.block + warp;
        if (first < at.n) requests += 2 * (div_up(at.n - first, threads) + 3);
      }
    }
  }

  template <class Seen>
  void compare(const Seen& seen, const std::string& whose) const {
    auto of_x_and_y = seen.loads();
    of_x_and_y = {};
    for (const auto& access : seen.accesses) {  // not of partial, where a learner may add in place
      const bool is_load = access.operation == Seen::Operation::kLoad;
      if (is_load && access.bytes_per_lane == sizeof(int)) of_x_and_y += access.counts;
    }
    lab::exactly("elements of x and y that " + whose + " load", of_x_and_y.lanes, elements,
                 "each thread loads its own share, once");
    lab::at_most("load requests of " + whose, of_x_and_y.requests, requests,
                 "the lanes of a warp load neighbours, in one request");
    lab::at_most("elements of x and y that one warp loads", seen.loads_of_busiest_warp(sizeof(int)),
                 of_warp, "no warp works for another");
  }
};

}  // namespace

TEST_CASE("every thread leaves its share of the dot product") {
  lab::Trials()
      .sizes({1, 31, 32, 33, 127, 256, 257, 1000, 1023, 2053, 0})
      .blocks({32, 96, 250, 1024})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        const std::vector<int> x = values(at, 3), y = values(at, 4);
        const lab::Array<int> d_x(x), d_y(y);
        for (const std::size_t blocks : {1, 2, 5}) {  // whatever the launch below makes of it
          const std::size_t threads = blocks * at.block;
          std::vector<long long> expected(threads, 0);
          for (std::size_t i = 0; i < at.n; ++i) {
            expected[i % threads] += static_cast<long long>(x[i]) * y[i];
          }
          const lab::Array<long long> partial(threads);
          const auto grid = static_cast<unsigned>(blocks);
          const auto launch = [&] {
            dot_of_share<<<grid, at.block>>>(d_x.get(), d_y.get(), at.n, partial.get());
            CUDA_CHECK_LAUNCH();
          };
          const std::string of_grid = "grid of " + std::to_string(blocks) + ": ";
          lab::count(
              launch, [&] { lab::expect_equal(of_grid + "partial", partial.download(), expected); },
              [&](const auto& seen) { Wanted(at, blocks, blocks).compare(seen, "all warps"); });
          lab::count_first_block(launch, [&](const auto& seen) {
            Wanted(at, blocks, 1).compare(seen, "block 0's warps");
          });
        }
      });
}

TEST_CASE("the launch is one wave, or less where there are not enough elements") {
  lab::Trials()
      .sizes({1, 32, 33, 1000, 2053, 300007, 0})
      .blocks({96, 250, 256, 768, 1024, 32})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        const std::size_t needed = std::max<std::size_t>(1, div_up(at.n, at.block));
        const std::size_t wave = std::min(needed, wave_of(at.block));
        const std::vector<int> x = values(at, 5), y = values(at, 6);
        const lab::Array<int> d_x(x), d_y(y);
        // Room for a launch that is too large.
        const lab::Array<long long> d_partial((needed + wave_of(at.block)) * at.block);
        const unsigned blocks = launch_dot(d_x.get(), d_y.get(), at.n, d_partial.get(), at.block);
        const int sms = device_attribute(cudaDevAttrMultiProcessorCount, 0);
        lab::exactly("blocks, on a device of " + std::to_string(sms) + (sms == 1 ? " SM" : " SMs"),
                     blocks, wave, "a wave is blocks per SM times SMs: the runtime knows both");

        const std::size_t threads = wave * at.block;
        std::vector<long long> partial = d_partial.download(), expected(threads, 0);
        partial.resize(threads);
        for (std::size_t i = 0; i < at.n; ++i) {
          expected[i % threads] += static_cast<long long>(x[i]) * y[i];
        }
        lab::expect_equal("partial", partial, expected);
      });
}

TEST_CASE("the wave is what fits, on this device and for this kernel") {
  constexpr std::size_t kMany = 1 << 20;
  lab::once([] {
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
