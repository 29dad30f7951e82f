// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/00_first_kernel/first_kernel.cu"
#undef main

#include "kernel_testing.cuh"

#include <algorithm>
#include <functional>

TEST_CASE("every element is added at awkward sizes, and nothing behind the last is touched") {
  for (const std::size_t n : awkward_sizes()) {
    if (n == 0) continue;  // a grid of no blocks cannot be launched
    const std::vector<float> a = random_floats(n, -1, 1, 3), b = random_floats(n, -1, 1, 4);
    std::vector<float> expected(n);
    std::transform(a.begin(), a.end(), b.begin(), expected.begin(), std::plus<float>());
    const DeviceArray<float> d_a(a), d_b(b), d_sum(n);
    for (const unsigned block : awkward_blocks()) {
      INFO("n = " << n << ", block " << block);
      d_sum.poison();
      const auto grid = static_cast<unsigned>(div_up(n, block));
      add<<<grid, block>>>(d_a.get(), d_b.get(), d_sum.get(), static_cast<int>(n));
      CUDA_CHECK_LAUNCH();
      REQUIRE(d_sum.download() == expected);
    }
  }
}

TEST_CASE("the program ends with status 0") { REQUIRE(chapter_main() == 0); }
