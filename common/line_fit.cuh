// SPDX-License-Identifier: MIT
// The straight line through measured points.
#pragma once

#include <cstddef>
#include <vector>

/// y = base + slope * x
struct Line {
  double base = 0, slope = 0;
};

/// The line closest to the points (x[i], y[i]): the one with the smallest sum of squared distances
/// in y. Needs two different values of x.
inline Line fit_line(const std::vector<double>& x, const std::vector<double>& y) {
  double mean_x = 0, mean_y = 0, along_both = 0, along_x = 0;
  const auto count = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / count;
    mean_y += y[i] / count;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    along_both += (x[i] - mean_x) * (y[i] - mean_y);
    along_x += (x[i] - mean_x) * (x[i] - mean_x);
  }
  const double slope = along_both / along_x;
  return {mean_y - slope * mean_x, slope};
}
