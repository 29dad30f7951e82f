// SPDX-License-Identifier: MIT
// STARTER FAILS: every thread counts the elements that are dealt to it
#include "tests/lab_testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

constexpr unsigned kBlocks = 3;

// One of the values, so that "larger or equal" gives another count.
int limit_for(const std::vector<int>& x) { return x.empty() ? 0 : x[x.size() / 2]; }

lab::Trials trials() { return lab::Trials().sizes(lab::sizes()).blocks({32, 1, 33, 250, 1024}); }

}  // namespace

TEST_CASE("every thread counts the elements that are dealt to it") {
  trials().run([](const lab::Trial& at) {
    const std::vector<int> x = lab::ints_of(at);
    const std::size_t threads = std::size_t{kBlocks} * at.block;
    std::vector<unsigned> expected(threads, 0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] > limit_for(x)) ++expected[i % threads];
    }
    const lab::Array<int> d_x(x);
    const lab::Array<unsigned> counts(threads);
    count_larger<<<kBlocks, at.block>>>(d_x.get(), at.n, limit_for(x), counts.get());
    CUDA_CHECK_LAUNCH();
    lab::expect_equal("counts", counts.download(), expected);
  });
}

TEST_CASE("the host adds the counts of all threads") {
  trials().inputs({lab::Input::kRandom, lab::Input::kIndices}).run([](const lab::Trial& at) {
    const std::vector<int> x = lab::ints_of(at);
    std::size_t expected = 0;
    for (const int value : x) expected += limit_for(x) < value ? 1 : 0;
    const lab::Array<int> d_x(x);
    lab::expect_equal("count_on_device",
                      count_on_device(d_x.get(), at.n, limit_for(x), kBlocks, at.block), expected);
  });
}

TEST_CASE("there may be more blocks than a block may have threads") {
  lab::once([] {
    const std::vector<int> x(5000, 1);
    const lab::Array<int> d_x(x);
    lab::expect_equal("count_on_device", count_on_device(d_x.get(), x.size(), 0, 1025, 2),
                      x.size());
  });
}
