// SPDX-License-Identifier: MIT
#include <sstream>

#include "../../common/common.cuh"
#include "../catch.hpp"

namespace {
const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();
constexpr auto kExactly = [](std::size_t) { return 0.0; };
}  // namespace

TEST_CASE("is_close takes what lies within the tolerance and nothing else") {
  CHECK(is_close(1.0, 1.0, 0.0));
  CHECK(is_close(1.0, 1.5, 0.5));
  CHECK_FALSE(is_close(1.0, 1.6, 0.5));
  CHECK_FALSE(is_close(-1.0, 1.0, 0.5));
}

TEST_CASE("is_close never passes a NaN, whichever side it is on, whatever the tolerance") {
  CHECK_FALSE(is_close(kNan, 1.0, 1e300));
  CHECK_FALSE(is_close(1.0, kNan, 1e300));
  CHECK_FALSE(is_close(kNan, kNan, kInfinity));
  CHECK_FALSE(is_close(1.0, 1.0, kNan));
}

TEST_CASE("all_close rejects one wrong element, also the first and the last") {
  const std::vector<float> expected = random_floats(257, -1, 1, 3);
  CHECK(all_close("same", expected, expected, kExactly));
  for (const std::size_t i : {std::size_t{0}, std::size_t{100}, std::size_t{256}}) {
    std::vector<float> actual = expected;
    actual[i] = std::nextafter(actual[i], 2.0f);
    CHECK_FALSE(all_close("one ulp", actual, expected, kExactly));
    actual[i] = std::numeric_limits<float>::quiet_NaN();
    CHECK_FALSE(all_close("NaN", actual, expected, [](std::size_t) { return kInfinity; }));
  }
}

TEST_CASE("all_equal rejects one wrong element, also the first and the last") {
  const std::vector<int> expected = random_ints(1023, -5, 5, 3);
  CHECK(all_equal("same", expected, expected));
  for (const std::size_t i : {std::size_t{0}, std::size_t{500}, std::size_t{1022}}) {
    std::vector<int> actual = expected;
    actual[i] ^= 1;
    CHECK_FALSE(all_equal("one bit", actual, expected));
  }
}

TEST_CASE("all_equal rejects elements that are missing, and some too many") {
  const std::vector<int> expected = {1, 2, 3};
  CHECK_FALSE(all_equal("one missing", {1, 2}, expected));
  CHECK_FALSE(all_equal("one too many", {1, 2, 3, 4}, expected));
}

TEST_CASE("a wrong byte is named by its number, not as a character") {
  std::ostringstream said;
  std::streambuf* const before = std::cerr.rdbuf(said.rdbuf());
  const bool right = all_equal<unsigned char>("bytes", {65, 12}, {65, 66});
  std::cerr.rdbuf(before);
  CHECK_FALSE(right);
  CHECK(said.str() == "bytes: wrong at [1]: expected 66, got 12\n");
}
