// SPDX-License-Identifier: MIT
// Chapter 13, --show weights: how finely the texture unit mixes. Included by textures.cu.
//
// A line between two pixels of 0 and 1 returns the weights themselves. A small part of the square
// between four pixels, enlarged, shows what they do to an image.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "../../common/common.cuh"

namespace weights {

// Mixes at (x, y), one thread per place.
__global__ void sample_places(cudaTextureObject_t image, const float* x, const float* y, unsigned n,
                              float* result) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) result[i] = tex2D<float>(image, x[i], y[i]);
}

inline std::vector<float> sample(const ArrayImage& image, const std::vector<float>& x,
                                 const std::vector<float>& y) {
  const Texture texture = over_array(image, cudaFilterModeLinear);
  const DeviceArray<float> d_x(x), d_y(y), result(x.size());
  const unsigned n = static_cast<unsigned>(x.size());
  sample_places<<<static_cast<unsigned>(div_up(n, 256)), 256>>>(texture.get(), d_x.get(), d_y.get(),
                                                                n, result.get());
  CUDA_CHECK_LAUNCH();
  return result.download();
}

// ---- the line ----------------------------------------------------------------------------------

constexpr unsigned kLineSteps = 4096;  // places between two pixels: 16 for each step of the unit
constexpr double kUnitSteps = 256;     // 8 bits

// The unit's weights at k / kLineSteps of the way from a pixel of 0 to one of 1.
inline std::vector<float> weights_on_line() {
  const ArrayImage image({0, 1}, 2, 1);
  std::vector<float> x, y(kLineSteps + 1, 0.5f);
  for (unsigned k = 0; k <= kLineSteps; ++k) x.push_back(0.5f + static_cast<float>(k) / kLineSteps);
  return sample(image, x, y);
}

struct LineSummary {
  std::size_t different = 0;  // weights that occur
  double largest_error = 0;   // in steps of 1/256
  std::size_t rounded = 0;    // weights that are the exact one, rounded to the next 1/256
};

inline LineSummary summary_of(const std::vector<float>& line) {
  LineSummary s;
  s.different = std::set<float>(line.begin(), line.end()).size();
  for (unsigned k = 0; k <= kLineSteps; ++k) {
    const double exact = kUnitSteps * k / kLineSteps,
                 got = kUnitSteps * static_cast<double>(line[k]);
    s.largest_error = std::max(s.largest_error, std::abs(got - exact));
    s.rounded += got == std::floor(exact + 0.5);
  }
  return s;
}

// ---- the picture -------------------------------------------------------------------------------

// The middle of the square between four pixels: kCells steps of the unit on a side, each in kFine.
constexpr unsigned kCells = 6, kFine = 8, kSide = kCells * kFine;

struct Picture {
  std::vector<float> x, y, unit;
  std::vector<double> exact;
};

inline Picture picture() {
  const float p = 0, q = 1, r = 0.75f, s = 0.25f;
  const ArrayImage image({p, q, r, s}, 2, 2);
  Picture made;
  for (unsigned i = 0; i < kSide * kSide; ++i) {
    // Half a fine step beside the places where the unit goes on to its next weight.
    const double step = 1 / (kUnitSteps * kFine);
    const double a = 0.5 + (i % kSide + 0.5 - kSide / 2.0) * step;
    const double b = 0.5 + (i / kSide + 0.5 - kSide / 2.0) * step;
    made.x.push_back(static_cast<float>(0.5 + a));
    made.y.push_back(static_cast<float>(0.5 + b));
    made.exact.push_back((1 - b) * ((1 - a) * p + a * q) + b * ((1 - a) * r + a * s));
  }
  made.unit = sample(image, made.x, made.y);
  return made;
}

inline void write(CsvFile& csv, const Picture& picture) {
  csv.row({"column", "row", "unit", "exact"});
  const auto text = [](double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", value);
    return std::string(digits);
  };
  for (unsigned i = 0; i < kSide * kSide; ++i) {
    csv.row({std::to_string(i % kSide), std::to_string(i / kSide),
             text(static_cast<double>(picture.unit[i])), text(picture.exact[i])});
  }
}

inline double largest_error(const Picture& picture) {
  double largest = 0;
  for (std::size_t i = 0; i < picture.exact.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(picture.unit[i]) - picture.exact[i]));
  }
  return largest;
}

// Prints what was found, and writes the picture to `picture_csv` unless that is empty. Returns the
// exit status of the program.
inline int run(ResultTable& table, CsvFile& picture_csv) {
  const LineSummary line = summary_of(weights_on_line());
  const Picture square = picture();
  char text[160];
  std::snprintf(text, sizeof text, "%zu different weights between two pixels, at %u places",
                line.different, kLineSteps + 1);
  table.measured("different_weights", static_cast<double>(line.different), "weights", text);
  std::snprintf(text, sizeof text, "%zu of them are the exact weight rounded to 1/256",
                line.rounded);
  table.measured("rounded_weights", static_cast<double>(line.rounded), "places", text);
  std::snprintf(text, sizeof text, "a weight is off by at most %.4f of 1/256", line.largest_error);
  table.measured("weight_error", line.largest_error, "1/256", text);
  const double error = largest_error(square);
  std::snprintf(text, sizeof text, "pixels of 0 to 1, mixed, are off by at most %.5f", error);
  table.measured("pixel_error", error, "", text);
  write(picture_csv, square);
  const bool written = picture_csv.finish();
  const bool ok = line.largest_error <= 0.5;
  const int status = table.finish();
  return ok && written ? status : kExitWrong;
}

}  // namespace weights
