// SPDX-License-Identifier: MIT
// STARTER FAILS: every element is the weighted sum of its neighbourhood
#include "tests/lab_testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// In another order than the kernel's: every element of x is added wherever it counts.
std::vector<int> filtered(const std::vector<int>& x, const std::vector<int>& taps) {
  const std::size_t half = taps.size() / 2;
  std::vector<int> wide(x.size() + 2 * half, 0);  // y, with margins that are cut off below
  for (std::size_t j = 0; j < x.size(); ++j) {
    for (std::size_t k = 0; k < taps.size(); ++k) wide[j + taps.size() - 1 - k] += taps[k] * x[j];
  }
  const auto first = wide.begin() + static_cast<std::ptrdiff_t>(half);
  return {first, first + static_cast<std::ptrdiff_t>(x.size())};
}

}  // namespace

TEST_CASE("every element is the weighted sum of its neighbourhood") {
  lab::Trials().sizes(lab::sizes()).blocks({32, 96, 256}).run([](const lab::Trial& at) {
    const std::vector<int> x = lab::ints_of(at);
    const lab::Array<int> d_x(x);
    for (const std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{31}, kMaxTaps}) {
      const std::vector<int> taps = random_ints(count, -999, 999, at.n + count);
      const lab::Array<int> y(at.n);
      launch_filter(d_x.get(), at.n, taps, y.get(), at.block);
      lab::expect_equal(std::to_string(count) + (count == 1 ? " tap: y" : " taps: y"), y.download(),
                        filtered(x, taps));
    }
  });
}
