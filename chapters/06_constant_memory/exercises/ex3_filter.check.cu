// SPDX-License-Identifier: MIT
// STARTER FAILS: every element is the weighted sum of its neighbourhood
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
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

// An int holds every sum of them: 65 * 1000 * 33000 is less than 2^31.
std::vector<int> values_of(const lab::Trial& at) {
  if (at.input == lab::Input::kRandom) return random_ints(at.n, -33000, 33000, 7 + at.n);
  return lab::ints_of(at);
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

// As far as it can be seen in some of the blocks.
template <class Seen>
void expect_own_work(const Seen& seen, std::size_t least, std::size_t taps) {
  using Space = typename Seen::Space;
  using Operation = typename Seen::Operation;
  lab::between("bytes of coefficients that one thread loads from constant memory",
               seen.of_busiest_thread(Space::kConstant, Operation::kLoad).bytes,
               least * sizeof(int), 2 * taps * sizeof(int),
               "each thread takes every coefficient it needs from there itself");
  lab::at_most("elements of x that one thread loads",
               seen.bytes_loaded_by_busiest_thread() / sizeof(int), taps,
               "no more than one for each coefficient");
  lab::at_most("elements of y that one thread stores",
               seen.bytes_stored_by_busiest_thread() / sizeof(int), 1, "its own");
  lab::exactly("shuffles and votes of one thread", seen.exchanges_of_busiest_thread, 0,
               "no thread adds for another");
}

// As X-ray has counted them.
template <class Seen>
void expect_counts(const Seen& seen, const lab::Copied& copied, const lab::Trial& at,
                   std::size_t taps) {
  const std::size_t blocks = std::max<std::size_t>(1, div_up(at.n, at.block));
  lab::exactly("blocks", seen.grid.x, blocks, "enough to give each element a thread, and no more");
  lab::exactly("threads in a block", seen.block.x, at.block);
  const auto constant = seen.constant_loads();
  lab::at_most("requests to the constant cache", constant.words,
               blocks * div_up(at.block, 32) * taps,
               "one for each warp and coefficient, if all its lanes want the same one at a time");
  lab::between("loads of coefficients from constant memory, by all threads together",
               constant.lanes, products(at.n, taps), 2 * blocks * at.block * taps,
               "each thread takes every coefficient it needs from there itself");
  expect_own_work(seen, at.n == 0 ? 0 : 1, taps);
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
  const std::size_t few = lab::drawn(258, 999), many = lab::drawn(2054, 4096);
  std::vector<std::size_t> sizes = lab::sizes();
  sizes.insert(sizes.end() - 1, {few, many});
  lab::Trials()
      .sizes(sizes)
      .blocks({32, 96, 256, lab::drawn(257, 1024)})
      .run([&](const lab::Trial& at) {
        const std::vector<int> x = values_of(at);
        const lab::Array<int> d_x(x);
        const std::size_t any = 2 * lab::drawn(2, 31) + 1;
        // Not all are counted: that would take long. Of many elements one number of taps.
        const std::size_t counted =
            lab::shuffled(std::vector<std::size_t>{3, 31, kMaxTaps, any})[0];
        for (const std::size_t count :
             {std::size_t{1}, std::size_t{3}, std::size_t{31}, kMaxTaps, any}) {
          const std::vector<int> taps = random_ints(count, -999, 999, at.n + count);
          const std::vector<int> expected = filtered(x, taps);
          const lab::Array<int> y(at.n);
          const auto launch = [&] { launch_filter(d_x.get(), at.n, taps, y.get(), at.block); };
          const auto results = [&] {
            lab::expect_equal(std::to_string(count) + (count == 1 ? " tap: y" : " taps: y"),
                              y.download(), expected);
          };
          lab::Copied copied;
          const auto work = [&] { copied = lab::copied_by(launch, d_x, y); };
          const auto judge = [&](const auto& seen) { expect_counts(seen, copied, at, count); };
          const bool is_small = at.input == lab::Input::kRandom && at.n <= 257;
          const bool is_drawn = (at.n == few || at.n == many) && count == counted;
          is_small || is_drawn ? lab::count(work, results, judge) : (launch(), results());
        }

        if (at.input != lab::Input::kRandom || at.n > 257) return;
        // As many coefficients as before, where they were before: one is another, then two have
        // changed places.
        std::vector<int> taps = random_ints(any, -999, 999, at.n + any);
        const lab::Array<int> y(at.n);
        for (unsigned changes = 0; changes < 3; ++changes) {
          if (changes == 1) taps[lab::drawn(0, static_cast<unsigned>(any) - 1)] += 1;
          if (changes == 2) std::swap(taps[0], taps[lab::drawn(1, static_cast<unsigned>(any) - 1)]);
          launch_filter(d_x.get(), at.n, taps, y.get(), at.block);
          lab::expect_equal("y after " + std::to_string(changes) + " changes of a coefficient",
                            y.download(), filtered(x, taps));
        }
      });
}

TEST_CASE("large coefficients, and more blocks than 16 bits count") {
  if (!lab::tries_large_sizes()) return lab::once([] {});
  lab::Trials()
      .sizes({lab::drawn(198000, 200000)})
      // In a block of one thread the first one has nobody to work for.
      .blocks({lab::drawn(2, 3)})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        // An int holds every sum: 65 * 33000 * 999 is less than 2^31.
        const std::vector<int> x = random_ints(at.n, -999, 999, 8);
        std::vector<int> taps = random_ints(2 * lab::drawn(1, 3) + 1, -33000, 33000, 9);
        taps.front() = 33000;  // a short does not hold it
        const std::vector<int> expected = filtered(x, taps);
        const lab::Array<int> d_x(x), y(at.n);
        lab::count_some_blocks(
            30, [&] { launch_filter(d_x.get(), at.n, taps, y.get(), at.block); },
            [&] {
              lab::expect_equal(std::to_string(taps.size()) + " taps: y", y.download(), expected);
            },
            [&](const auto& seen) {
              lab::exactly("blocks", seen.grid.x, div_up(at.n, at.block),
                           "enough to give each element a thread, and no more");
              expect_own_work(seen, 1, taps.size());
            });
      });
}
