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
  // (latency / t + (1 / bandwidth) * bytes / t - 1)^2: the derivatives by latency and by
  // 1 / bandwidth are 0.
  double uu = 0, uv = 0, vv = 0, u1 = 0, v1 = 0;
  for (const Measured& m : measured) {
    const double u = 1 / m.seconds, v = m.bytes / m.seconds;
    uu += u * u, uv += u * v, vv += v * v, u1 += u, v1 += v;
  }
  const double determinant = uu * vv - uv * uv;
  return {(u1 * vv - v1 * uv) / determinant, determinant / (v1 * uu - u1 * uv)};
}

// One device takes alone.seconds(bytes) for work of so many bytes. Several devices have an equal
// part of the bytes each, and work at the same time. When all have ended, something crosses the
// link: `crossing` bytes for each byte of the work, which takes link.seconds(crossing * bytes).
// Returns the number of bytes above which they are faster than one; infinity if they never are.
double worth_from(const Line& alone, const Line& link, double crossing, int devices) {
  const double saved = (1 - 1.0 / devices) / alone.bandwidth - crossing / link.bandwidth;
  return saved > 0 ? link.latency / saved : std::numeric_limits<double>::infinity();
}
