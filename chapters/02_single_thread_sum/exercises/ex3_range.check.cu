// SPDX-License-Identifier: MIT
// STARTER FAILS: the range is that of the elements
#include <algorithm>
#include <climits>

#include "tests/lab_testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

void expect_range(const std::string& call, const std::vector<int>& x) {
  std::vector<int> sorted = x;
  std::sort(sorted.begin(), sorted.end());
  const lab::Array<int> d_x(x);
  const Range range = range_on_device(d_x.get(), x.size());
  lab::expect_equal("smallest" + call, range.smallest, sorted.front());
  lab::expect_equal("largest" + call, range.largest, sorted.back());
}

}  // namespace

TEST_CASE("the range is that of the elements") {
  lab::Trials().sizes({1, 2, 3, 31, 32, 33, 257, 1000}).run([](const lab::Trial& at) {
    std::vector<int> x = lab::ints_of(at);
    expect_range("", x);
    // The same elements in falling order: the largest comes first.
    std::sort(x.begin(), x.end(), [](int a, int b) { return a > b; });
    expect_range(" of the elements in falling order", x);
    // A narrower range: nothing of the one before may be left.
    for (int& value : x) value = value / 4 + 1;
    expect_range(" of another call, with a narrower range", x);
  });
}

TEST_CASE("the range may be that of all ints") {
  lab::once([] {
    expect_range("", {INT_MIN});
    expect_range("", {INT_MAX});
    expect_range("", {5, INT_MAX, -5, INT_MIN, 0});
  });
}
