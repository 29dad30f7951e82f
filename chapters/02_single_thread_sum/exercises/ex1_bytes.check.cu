// SPDX-License-Identifier: MIT
// STARTER FAILS: the sum on the device is the sum of all elements
#include <numeric>

#include "tests/lab_testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

long long reference(const lab::Trial& at) {
  const std::vector<int> x = lab::ints_of(at);
  return std::accumulate(x.begin(), x.end(), 0LL);
}

// The sum of the elements 7 - 3 * x[i].
long long other_reference(const lab::Trial& at) {
  return 7 * static_cast<long long>(at.n) - 3 * reference(at);
}

}  // namespace

TEST_CASE("the sum on the device is the sum of all elements") {
  lab::Trials()
      .sizes(lab::sizes())
      .diagnose("only negative sums fail: how many bytes of the result come back?",
                [](const lab::Trial& r) { return reference(r) < 0 || other_reference(r) < 0; })
      .diagnose("it is right only without elements: how many bytes of x arrive?",
                [](const lab::Trial& r) { return r.n > 0; })
      .run([](const lab::Trial& at) {
        const std::vector<int> x = lab::ints_of(at);
        lab::expect_equal("sum", sum_on_device(x), reference(at));
        // Memory that was just freed still holds the elements of the first call.
        std::vector<int> other(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) other[i] = 7 - 3 * x[i];
        lab::expect_equal("sum of the second call", sum_on_device(other), other_reference(at));
      });
}
