// SPDX-License-Identifier: MIT
// STARTER FAILS: the sum may be larger than an int holds
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// Elements of -limit to limit; both ends occur.
void try_values_up_to(int limit, std::vector<std::size_t> sizes = lab::sizes()) {
  lab::Trials()
      .sizes(std::move(sizes))
      .inputs({lab::Input::kRandom})
      .run([limit](const lab::Trial& at) {
        std::vector<int> x = random_ints(at.n, -limit, limit, 3 + at.n);
        if (at.n > 60000) x.assign(at.n, limit - 1);  // odd, and at no end of a range
        if (at.n > 0) x.front() = limit;
        if (at.n > 1) x.back() = -limit;
        // |x| * |x| in unsigned arithmetic, which the kernel does not use.
        unsigned long long expected = 0;
        for (const int value : x) {
          const auto size = static_cast<unsigned long long>(value < 0 ? -value : value);
          expected += size * size;
        }
        const lab::Array<int> d_x(x);
        const lab::Array<long long> sum(1);
        sum_of_squares<<<1, 1>>>(d_x.get(), at.n, sum.get());
        CUDA_CHECK_LAUNCH();
        lab::expect_equal("sum", sum.download().at(0), static_cast<long long>(expected));
      });
}

}  // namespace

TEST_CASE("small squares add up") { try_values_up_to(9); }

// 46340 squared is the last square that an int holds.
TEST_CASE("the sum may be larger than an int holds") { try_values_up_to(46340); }

TEST_CASE("one square may be larger than an int holds") { try_values_up_to(60000); }

TEST_CASE("one square may be larger than 32 bits hold") { try_values_up_to(1000000); }

// A double holds every whole number up to 2^53, which is 9.007e15, and of the next ones the even
// ones only. This sum is about 6.6e16, and 9008 of its squares pass 2^53.
TEST_CASE("the sum may be larger than a double counts") {
  try_values_up_to(1000000, {lab::drawn(65600, 66000)});
}
