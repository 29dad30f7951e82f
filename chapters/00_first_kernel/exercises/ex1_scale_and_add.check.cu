// SPDX-License-Identifier: MIT
// STARTER FAILS: every element is scaled and added, by a thread of its own
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// Multiples of 1/64 from -8 to 8: with a factor of 15 bits the product is exact, and the sum is
// rounded once, however it is computed.
std::vector<float> fractions(std::size_t n, std::uint64_t seed) {
  const std::vector<int> values = random_ints(n, -512, 512, seed);
  std::vector<float> fractions(n);
  for (std::size_t i = 0; i < n; ++i) fractions[i] = static_cast<float>(values[i]) / 64;
  return fractions;
}

// As far as it can be seen in some of the blocks.
template <class Seen>
void expect_own_elements(const Seen& seen, std::size_t n) {
  lab::exactly("threads in a block", seen.block.x, 128);
  lab::exactly("blocks", seen.grid.x, div_up(n, 128),
               "enough to give each element a thread, and no more");
  lab::at_most("bytes that one thread loads", seen.bytes_loaded_by_busiest_thread(),
               2 * sizeof(float), "each element has a thread of its own");
  lab::at_most("bytes that one thread stores", seen.bytes_stored_by_busiest_thread(), sizeof(float),
               "each element has a thread of its own");
}

}  // namespace

TEST_CASE("every element is scaled and added, by a thread of its own") {
  // A factor is free as n is: one fraction that is always tried, and two that nobody knows.
  const std::vector<float> simple = {0.5f, static_cast<float>(lab::drawn(17, 255)) / 16,
                                     -static_cast<float>(lab::drawn(17, 255)) / 16};
  // With small x also a fine fraction, a small one and a large one, and no factor at all.
  const auto odd = [](unsigned least, unsigned most) {
    return static_cast<float>(2 * lab::drawn(least, most) + 1);
  };
  const std::vector<float> others = {odd(1000, 16000) / 4096, -odd(1, 500) / (1 << 20),
                                     odd(1000, 16000) * 64, 0};
  lab::Trials()
      .sizes({1000, 128, 129, 127, 1, 2, 255, lab::drawn(3, 126), lab::drawn(130, 999),
              lab::drawn(1001, 4096), 10007, lab::drawn(65600, 66000)})
      .inputs({lab::Input::kIndices, lab::Input::kRandom})
      .run([&](const lab::Trial& at) {
        const std::vector<float> x =
            at.input == lab::Input::kRandom ? fractions(at.n, 4) : lab::floats_of(at);
        const std::vector<float> y = fractions(at.n, 5);
        const lab::Array<float> d_x(x), d_y(y);
        const bool is_small = at.input == lab::Input::kRandom && at.n <= 1000;
        std::vector<float> factors = simple;
        if (is_small) factors.insert(factors.end(), others.begin(), others.end());
        for (const float a : factors) {
          std::vector<float> expected(at.n);
          for (std::size_t i = 0; i < at.n; ++i) expected[i] = y[i] + x[i] * a;
          const std::string name = "a = " + lab::text_of(a) + ": y";
          const auto work = [&] {
            CUDA_CHECK(
                cudaMemcpy(d_y.get(), y.data(), at.n * sizeof(float), cudaMemcpyHostToDevice));
            scale_and_add_on_device(a, d_x.get(), d_y.get(), static_cast<int>(at.n));
            CUDA_CHECK_LAUNCH();
          };
          const auto results = [&] { lab::expect_equal(name, d_y.download(), expected); };
          if (a == 0) {  // which needs no x
            work(), results();
            continue;
          }
          lab::count(work, results, [&](const auto& seen) {
            expect_own_elements(seen, at.n);
            lab::exactly("loads of all threads together", seen.loads().lanes, 2 * at.n,
                         "x[i] and y[i], once each");
            lab::exactly("loads, counting a warp's 32 threads as one", seen.loads().requests,
                         2 * div_up(at.n, 32), "neighbouring threads have neighbouring elements");
            lab::exactly("stores of all threads together", seen.stores().lanes, at.n, "y[i], once");
          });
        }
      });
}

// A number of blocks that 16 bits do not hold: that takes eight million elements.
TEST_CASE("every one of eight million elements is scaled and added") {
  if (!lab::tries_large_sizes()) return lab::once([] {});
  lab::Trials()
      .sizes({(128u << 16) + lab::drawn(1, 9999)})
      .inputs({lab::Input::kIndices})
      .run([](const lab::Trial& at) {
        const lab::Array<float> d_x(std::vector<float>(at.n, 2)), d_y(std::vector<float>(at.n, 1));
        lab::count_some_blocks(
            30,
            [&] {
              scale_and_add_on_device(0.25f, d_x.get(), d_y.get(), static_cast<int>(at.n));
              CUDA_CHECK_LAUNCH();
            },
            [&] { lab::expect_equal("y", d_y.download(), std::vector<float>(at.n, 1.5f)); },
            [&](const auto& seen) { expect_own_elements(seen, at.n); });
      });
}
