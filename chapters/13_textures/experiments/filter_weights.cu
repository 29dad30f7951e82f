// SPDX-License-Identifier: MIT
// How finely does the texture unit mix?
//
// A line between two pixels of 0 and 1 returns the weights themselves.

#include <set>

#include "../../../common/common.cuh"
#include "mixing.cuh"

constexpr unsigned kLineSteps = 4096;  // places between two pixels: 16 for each step of the unit

// Places on the way from the centre of one pixel to that of the next.
__global__ void walk_line(float* x, float* y) {
  const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k > kLineSteps) return;
  x[k] = 0.5f + static_cast<float>(k) / kLineSteps;
  y[k] = 0.5f;
}

// The unit's weights at k / kLineSteps of the way from a pixel of 0 to one of 1.
std::vector<float> weights_on_line() {
  const DeviceArray<float> x(kLineSteps + 1), y(kLineSteps + 1);
  walk_line<<<blocks_for(kLineSteps + 1, 256), 256>>>(x, y);
  CUDA_CHECK_LAUNCH();
  return sample({0, 1, 0, 1}, x, y);
}

struct LineSummary {
  explicit LineSummary(const std::vector<float>& line)
      : different(std::set<float>(line.begin(), line.end()).size()) {
    for (unsigned k = 0; k <= kLineSteps; ++k) {
      const double exact = 1.0 * kUnitSteps * k / kLineSteps, got = 1.0 * kUnitSteps * line[k];
      largest_error = std::max(largest_error, std::abs(got - exact));
      rounded += got == std::floor(exact + 0.5);
    }
  }

  std::size_t different;     // weights that occur
  double largest_error = 0;  // in steps of 1/256
  std::size_t rounded = 0;   // weights that are the exact one, rounded to the next 1/256
};

int main(int argc, char** argv) {
  const Options opt(argc, argv, "13_filter_weights", "how finely does the texture unit mix?", {});
  opt.expect_no_versions();
  ResultTable table(opt, 3 * (kLineSteps + 1) * sizeof(float));
  const LineSummary line(weights_on_line());
  const double error = Picture().largest_error();
  table.measured("different_weights", line.different, "weights", line.different,
                 " different weights between two pixels, at ", kLineSteps + 1, " places");
  table.measured("rounded_weights", line.rounded, "places", "at ", line.rounded,
                 " of them the weight is the exact one, rounded to 1/256");
  table.measured("weight_error", line.largest_error, "1/256", "a weight is off by at most ",
                 line.largest_error, " of 1/256");
  table.measured("pixel_error", error, "", "pixels of 0 to 1, mixed, are off by at most ", error);
  return table.finish() == kExitOk && line.largest_error <= 0.5 ? kExitOk : kExitWrong;
}
