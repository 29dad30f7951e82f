// SPDX-License-Identifier: MIT
// STARTER FAILS: every element is the weighted sum of its neighbourhood
#include "common/labs/counts.cuh"
#include "common/labs/testing.cuh"
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

// How often a coefficient meets an element, in all of y.
[[maybe_unused]] std::uint64_t products(std::size_t n, std::size_t taps) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < taps; ++k) {
      if (i + k >= taps / 2 && i + k - taps / 2 < n) ++sum;
    }
  }
  return sum;
}

// As X-ray has counted them.
template <class Seen>
void expect_counts(const Seen& seen, const lab::Copied& copied, const lab::Trial& at,
                   std::size_t taps) {
  const std::size_t blocks = std::max<std::size_t>(1, div_up(at.n, at.block));
  lab::exactly("blocks", seen.grid.x, blocks, "as few as have a thread for each element");
  lab::exactly("threads in a block", seen.block.x, at.block);
  const auto constant = seen.constant_loads();
  lab::at_most("requests to the constant cache", constant.words, blocks * (at.block / 32) * taps,
               "one for each warp and coefficient, if all its lanes want the same one at a time");
  lab::between("loads of coefficients from constant memory, by all threads together",
               constant.lanes, products(at.n, taps), 2 * blocks * at.block * taps,
               "each thread takes every coefficient it needs from there itself");
  lab::at_most("elements that all threads load together", seen.loads().lanes, at.n * taps,
               "no more than one for each coefficient of each thread");
  lab::exactly("elements that all threads store together", seen.stores().lanes, at.n,
               "one for each thread that has one, in the end");
  lab::exactly("atomics", seen.atomics().requests + seen.shared_atomics().requests, 0,
               "each sum belongs to one thread");
  lab::exactly("bytes of x and y that were copied", copied.of_arrays, 0,
               "the kernel reads and writes them where they are");
}

}  // namespace

TEST_CASE("every element is the weighted sum of its neighbourhood") {
  lab::Trials().sizes(lab::sizes()).blocks({32, 96, 256}).run([](const lab::Trial& at) {
    const std::vector<int> x = lab::ints_of(at);
    const lab::Array<int> d_x(x);
    for (const std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{31}, kMaxTaps}) {
      const std::vector<int> taps = random_ints(count, -999, 999, at.n + count);
      const lab::Array<int> y(at.n);
      const auto launch = [&] { launch_filter(d_x.get(), at.n, taps, y.get(), at.block); };
      const auto results = [&] {
        lab::expect_equal(std::to_string(count) + (count == 1 ? " tap: y" : " taps: y"),
                          y.download(), filtered(x, taps));
      };
      lab::Copied copied;
      const auto work = [&] { copied = lab::copied_by(launch, d_x, y); };
      const auto judge = [&](const auto& seen) { expect_counts(seen, copied, at, count); };
      // Not all are counted: that would take long.
      const bool counts = at.input == lab::Input::kRandom && at.n <= 257;
      counts ? lab::count(work, results, judge) : (launch(), results());
    }
  });
}
