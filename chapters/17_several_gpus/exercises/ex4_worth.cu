// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 17, write the code: is the second device worth it?
//
// A model: what handles so many bytes takes latency + bytes / bandwidth. fit() finds both numbers
// in measured times. worth_from() says for how much work several devices are faster than one.
// Check it: make lab CH=17 EX=4      A hint: make hint CH=17 EX=4
#include <cmath>
#include <limits>

#include "common/common.cuh"

struct Measured {
  double bytes, seconds;  // both above 0
};

struct Line {
  double latency, bandwidth;  // seconds, bytes a second
  double seconds(double bytes) const { return latency + bytes / bandwidth; }
};

// The line for which the sum of (line.seconds(bytes) / seconds - 1)^2 over all measured times is
// the smallest: a time of 10 us that is 5 % off counts as much as one of 3 ms that is 5 % off. At
// least two of the sizes differ.
Line fit(const std::vector<Measured>& measured) {
  // TODO
  (void)measured;
  return {0, 1};
  // end of TODO
}

// One device takes alone.seconds(bytes) for work of so many bytes. Several devices have an equal
// part of the bytes each, and work at the same time. When all have ended, something crosses the
// link: `crossing` bytes for each byte of the work, which takes link.seconds(crossing * bytes).
// Returns the number of bytes above which they are faster than one; infinity if they never are.
double worth_from(const Line& alone, const Line& link, double crossing, int devices) {
  // TODO
  (void)alone, (void)link, (void)crossing, (void)devices;
  return 0;
  // end of TODO
}
