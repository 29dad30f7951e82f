// SPDX-License-Identifier: MIT
// STARTER FAILS: the peak of a fast memory
#include "tests/lab_testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// The expected peak: doubles from the start.
void expect_peak(int mhz, int bits) {
  lab::once([mhz, bits] {
    const double bytes = bits / 8.0, hertz = mhz * 1e6;
    const double expected = hertz / 1e9 * 2 * bytes;
    const double actual = peak_gbps(mhz * 1000, bits);
    lab::expect(is_close(actual, expected, 1e-12 * expected),
                "peak_gbps(" + std::to_string(mhz * 1000) + ", " + std::to_string(bits) + ")",
                lab::text_of(expected), lab::text_of(actual));
  });
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
