// SPDX-License-Identifier: MIT
// STARTER FAILS: every thread leaves its share of the dot product
#include <algorithm>

#include "tests/lab_testing.cuh"
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
          dot_of_share<<<static_cast<unsigned>(blocks), at.block>>>(d_x.get(), d_y.get(), at.n,
                                                                    partial.get());
          CUDA_CHECK_LAUNCH();
          lab::expect_equal("grid of " + std::to_string(blocks) + ": partial", partial.download(),
                            expected);
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
        lab::expect_equal("blocks", std::size_t{blocks}, wave);

        const std::size_t threads = wave * at.block;
        std::vector<long long> partial = d_partial.download(), expected(threads, 0);
        partial.resize(threads);
        for (std::size_t i = 0; i < at.n; ++i) {
          expected[i % threads] += static_cast<long long>(x[i]) * y[i];
        }
        lab::expect_equal("partial", partial, expected);
      });
}
