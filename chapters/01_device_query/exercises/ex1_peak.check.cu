// SPDX-License-Identifier: MIT
// STARTER FAILS: the peak of a fast memory
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// The expected peak: doubles from the start.
void compare_peak(int khz, int bits) {
  const double bytes = bits / 8.0, hertz = khz * 1e3;
  const double expected = hertz / 1e9 * 2 * bytes;
  const double actual = peak_gbps(khz, bits);
  lab::expect(is_close(actual, expected, 1e-12 * expected),
              "peak_gbps(" + std::to_string(khz) + ", " + std::to_string(bits) + ")",
              lab::text_of(expected), lab::text_of(actual));
}

void expect_peak(int mhz, int bits) {
  lab::once([mhz, bits] { compare_peak(mhz * 1000, bits); });
}

}  // namespace

TEST_CASE("the peak of a slow memory") {
  expect_peak(1000, 64);
  expect_peak(500, 384);
}

// Past 2^31 bytes per millisecond; the second one past 2^32, where even an unsigned int ends.
TEST_CASE("the peak of a fast memory") {
  expect_peak(2600, 5120);
  expect_peak(3201, 6016);
  expect_peak(4000, 8192);
}

TEST_CASE("a peak need not be a whole number") {
  expect_peak(1107, 512);
  expect_peak(33, 8);
}

// Clocks that are no whole number of MHz, of slow memories and of fast ones, on every width.
TEST_CASE("the peaks of a thousand memories") {
  lab::once([] {
    const std::vector<int> clocks = random_ints(1000, 1001, 19999999, 5);
    for (std::size_t i = 0; i < clocks.size(); ++i) {
      compare_peak(clocks[i], 8 * static_cast<int>(1 + i));
    }
  });
}
