// SPDX-License-Identifier: MIT
// STARTER FAILS: the partial sums together are the sum of all elements
#include "tests/lab_testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

constexpr unsigned kBlocks = 3;

std::vector<long long> partial_sums(const std::vector<int>& x, unsigned block) {
  const lab::Array<int> d_x(x);
  const lab::Array<long long> partial(std::size_t{kBlocks} * block);
  sum_chunked<<<kBlocks, block>>>(d_x.get(), x.size(), partial.get());
  CUDA_CHECK_LAUNCH();
  return partial.download();
}

// Some sizes are multiples of the number of threads, for several blocks.
lab::Trials trials() {
  return lab::Trials()
      .sizes({96, 93, 1, 2, 31, 97, 100, 255, 768, 1000, 1023, 2053, 3072, 3073, 0})
      .blocks(awkward_blocks())
      .inputs({lab::Input::kRandom, lab::Input::kNegative})
      .diagnose(
          "only sizes that are no multiple of the number of threads fail: who takes the rest?",
          [](const lab::Trial& r) { return r.n % (kBlocks * r.block) != 0; });
}

}  // namespace

TEST_CASE("the partial sums together are the sum of all elements") {
  trials().run([](const lab::Trial& at) {
    const std::vector<int> x = lab::ints_of(at);
    long long expected = 0;
    for (const int value : x) expected += static_cast<long long>(value) * value;

    const std::vector<long long> partial = partial_sums(x, at.block);
    long long sum = 0;
    for (std::size_t t = 0; t < partial.size(); ++t) {
      lab::expect(partial[t] >= 0, "partial[" + std::to_string(t) + "]",
                  "a sum of squares, 0 for a thread without an element",
                  std::to_string(partial[t]));
      sum += partial[t];
    }
    lab::expect_equal("the sum of partial", sum, expected);
  });
}

TEST_CASE("no thread takes more than its share") {
  trials().inputs({lab::Input::kRandom}).run([](const lab::Trial& at) {
    // When every element is 1, a sum of squares is the number of elements.
    const std::vector<long long> taken = partial_sums(std::vector<int>(at.n, 1), at.block);
    const auto share = static_cast<long long>(div_up(at.n, taken.size()));
    for (std::size_t t = 0; t < taken.size(); ++t) {
      lab::expect(taken[t] <= share, "the number of elements of thread " + std::to_string(t),
                  "at most " + std::to_string(share), std::to_string(taken[t]));
    }
  });
}
