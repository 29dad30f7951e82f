// SPDX-License-Identifier: MIT
// STARTER FAILS: the partial sums together are the sum of all elements
#include <algorithm>
#include <climits>
#include <cmath>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// For the largest n so many that t * n needs more than 32 bits.
// The number of blocks is free as n is.
unsigned blocks_of(const lab::Trial& at) {
  static const unsigned few = lab::drawn(2, 5);
  return at.n > 4096 ? 300 : few;
}
std::size_t threads_of(const lab::Trial& at) { return std::size_t{blocks_of(at)} * at.block; }

void launch(const lab::Array<int>& x, const lab::Trial& at, const lab::Array<long long>& partial) {
  sum_chunked<<<blocks_of(at), at.block>>>(x.get(), at.n, partial.get());
  CUDA_CHECK_LAUNCH();
}

std::vector<long long> partial_sums(const std::vector<int>& x, const lab::Trial& at) {
  const lab::Array<int> d_x(x);
  const lab::Array<long long> partial(threads_of(at));
  launch(d_x, at, partial);
  return partial.download();
}

// So large that no double holds the sum of their squares, but a long long does.
std::vector<int> values(const lab::Trial& at) {
  const double most = std::sqrt(9e18 / static_cast<double>(std::max<std::size_t>(at.n, 1)));
  const int limit = static_cast<int>(std::min<double>(most, INT_MAX));
  return random_ints(at.n, -limit, limit, at.n);
}

// How many elements one thread loads.
template <class Seen>
void expect_own_chunk(const Seen& seen, std::size_t share) {
  lab::at_most("elements that one thread loads",
               seen.bytes_loaded_by_busiest_thread() / sizeof(int), share,
               "those of its own chunk: n / threads, rounded up");
  lab::expect_nothing_handed_over(seen);
}

// Some sizes are multiples of the number of threads, for several blocks.
lab::Trials trials(std::vector<std::size_t> larger) {
  std::vector<std::size_t> sizes = {96, 93, 1, 2, 31, 97, 100, 255, 768, 1000, 1023};
  sizes.insert(sizes.end(), larger.begin(), larger.end());
  return lab::Trials()
      .sizes(std::move(sizes))
      .blocks(awkward_blocks())
      .inputs({lab::Input::kRandom})
      .diagnose(
          "only sizes that are no multiple of the number of threads fail: who takes the rest?",
          [](const lab::Trial& r) { return r.n % threads_of(r) != 0; });
}

std::size_t begun = 0, ended = 0;  // tries of the first test case

}  // namespace

TEST_CASE("the partial sums together are the sum of all elements") {
  trials({2053, lab::drawn(2054, 4096), 0}).run([](const lab::Trial& at) {
    ++begun;
    const std::vector<int> x = values(at);
    long long expected = 0;
    for (const int value : x) expected += static_cast<long long>(value) * value;

    const lab::Array<int> d_x(x);
    const lab::Array<long long> d_partial(threads_of(at));
    const std::size_t least = at.n / threads_of(at), share = div_up(at.n, threads_of(at));
    lab::count([&] { launch(d_x, at, d_partial); },
               [&] {
                 const std::vector<long long> partial = d_partial.download();
                 long long sum = 0;
                 for (std::size_t t = 0; t < partial.size(); ++t) {
                   lab::expect(partial[t] >= 0, "partial[" + std::to_string(t) + "]",
                               "a sum of squares, 0 for a thread without an element",
                               std::to_string(partial[t]));
                   sum += partial[t];
                 }
                 lab::expect_equal("the sum of partial", sum, expected);
               },
               [&](const auto& seen) {
                 lab::exactly("elements that all threads together load", seen.loads().lanes, at.n,
                              "each is loaded once, by the thread whose chunk it is in");
                 lab::at_most("load requests of all warps", seen.loads().requests,
                              blocks_of(at) * div_up(at.block, 32) * share,
                              "the threads of a warp walk through their chunks together");
                 expect_own_chunk(seen, share);
               });
    lab::count_first_block([&] { launch(d_x, at, d_partial); },
                           [&](const auto& seen) {
                             lab::between("elements that the first block's threads load",
                                          seen.loads().lanes, std::min(at.n, at.block * least),
                                          at.block * share, "those of their own chunks");
                           });
    ++ended;
  });
}

TEST_CASE("no thread takes more than its share") {
  trials({lab::drawn(65600, 66000), 2053, 0}).run([](const lab::Trial& at) {
    // That takes minutes where every thread loads everything.
    if (at.n > 1023 && ended < begun) return;
    // When every element is 1, a sum of squares is the number of elements.
    const std::vector<long long> taken = partial_sums(std::vector<int>(at.n, 1), at);
    const std::vector<int> x = values(at);
    const lab::Array<int> d_x(x);
    const lab::Array<long long> d_partial(threads_of(at));
    std::vector<long long> partial;
    lab::count([&] { launch(d_x, at, d_partial); }, [&] { partial = d_partial.download(); },
               [&](const auto& seen) { expect_own_chunk(seen, div_up(at.n, threads_of(at))); });
    const auto share = static_cast<long long>(div_up(at.n, taken.size()));
    std::size_t begin = 0;
    for (std::size_t t = 0; t < taken.size(); ++t) {
      const std::string who = "thread " + std::to_string(t);
      lab::expect(taken[t] >= 0 && taken[t] <= share, "the number of elements of " + who,
                  "at most " + std::to_string(share), std::to_string(taken[t]));
      long long expected = 0;
      const std::size_t end = begin + static_cast<std::size_t>(taken[t]);
      for (; begin < end && begin < at.n; ++begin) {
        expected += static_cast<long long>(x[begin]) * x[begin];
      }
      lab::expect(partial[t] == expected, "the elements of " + who,
                  "one chunk, right after the chunk of the thread before it", "others");
    }
  });
}

TEST_CASE("a chunk may have more elements than 16 bits count") {
  if (!lab::tries_large_sizes()) return lab::once([] {});
  lab::Trials()
      .sizes({2 * lab::drawn(70000, 75000)})
      .blocks({1})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        if (ended < begun) return;
        const std::vector<int> x = values(at);
        const std::size_t chunk = div_up(at.n, 2);
        std::vector<long long> expected(2, 0);
        for (std::size_t i = 0; i < at.n; ++i) {
          expected[i / chunk] += static_cast<long long>(x[i]) * x[i];
        }
        const lab::Array<int> d_x(x);
        const lab::Array<long long> partial(2);
        lab::count(
            [&] {
              sum_chunked<<<2, 1>>>(d_x.get(), at.n, partial.get());
              CUDA_CHECK_LAUNCH();
            },
            [&] {
              lab::expect_equal("2 blocks of one thread: partial", partial.download(), expected);
            },
            [&](const auto& seen) { expect_own_chunk(seen, chunk); });
      });
}
