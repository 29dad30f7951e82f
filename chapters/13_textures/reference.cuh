// SPDX-License-Identifier: MIT
// Chapter 13, what the turned image has to be: computed on the host in whole numbers. Included by
// textures.cu.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "../../common/common.cuh"

constexpr std::int64_t kSteps = 2 * kParts;  // coordinates are multiples of 1 / kSteps

// The turned image: by the nearest pixel, by four pixels mixed, and by four pixels mixed with the
// weights of the texture unit.
struct Turned {
  std::vector<float> nearest, mixed, mixed_by_unit;
  std::size_t inside = 0;  // pixels of the result that the image reaches
};

// A coordinate, counted in steps: the pixel it lies in, and how many steps into it.
struct Split {
  std::int64_t whole, rest;
};
inline Split split(std::int64_t steps) {
  const std::int64_t rest = ((steps % kSteps) + kSteps) % kSteps;
  return {(steps - rest) / kSteps, rest};
}

// Four pixels side by side: p q above r s.
struct Four {
  double p, q, r, s;
};

// A place among their centres, `a` steps to the right of p and `b` below it.
inline double mixed(const Four& four, std::int64_t a, std::int64_t b) {
  const double right = static_cast<double>(a) / kSteps, down = static_cast<double>(b) / kSteps;
  return four.p + right * (four.q - four.p) + down * (four.r - four.p) +
         right * down * (four.p - four.q - four.r + four.s);
}

// A fraction in 256ths, rounded: half of one goes up.
inline std::int64_t in_256ths(std::int64_t numerator, std::int64_t denominator) {
  return (2 * 256 * numerator + denominator) / (2 * denominator);
}

// How the unit of an H200 does it: first a and b are rounded to 256ths, then the weight of s, their
// product. The others follow, so that all four add up to 1.
inline double mixed_by_unit(const Four& four, std::int64_t a, std::int64_t b) {
  const std::int64_t right = in_256ths(a, kSteps), down = in_256ths(b, kSteps);
  const std::int64_t of_s = in_256ths(right * down, 256 * 256);
  const std::int64_t of_q = right - of_s, of_r = down - of_s, of_p = 256 - right - of_r;
  return (static_cast<double>(of_p) * four.p + static_cast<double>(of_q) * four.q +
          static_cast<double>(of_r) * four.r + static_cast<double>(of_s) * four.s) /
         256;
}

inline Turned turned_on_host(const std::vector<float>& pixels, const Turn& turn) {
  const std::int64_t width = turn.width, height = turn.height;
  const std::int64_t cosine = std::llround(turn.cosine * kParts);
  const std::int64_t sine = std::llround(turn.sine * kParts);
  const auto is_inside = [&](std::int64_t column, std::int64_t row) {
    return column >= 0 && column < width && row >= 0 && row < height;
  };
  const auto pixel = [&](std::int64_t column, std::int64_t row) {
    return is_inside(column, row) ? pixels[static_cast<std::size_t>(row * width + column)] : 0.0f;
  };
  Turned turned;
  for (auto* image : {&turned.nearest, &turned.mixed, &turned.mixed_by_unit}) {
    image->reserve(pixels.size());
  }
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      // Twice the distance from the middle is a whole number.
      const std::int64_t right = 2 * x + 1 - width, down = 2 * y + 1 - height;
      const std::int64_t from_x = cosine * right + sine * down + width * kParts;
      const std::int64_t from_y = cosine * down - sine * right + height * kParts;
      const std::int64_t column = split(from_x).whole, row = split(from_y).whole;
      turned.nearest.push_back(pixel(column, row));
      turned.inside += is_inside(column, row);
      // Half a pixel to the left and above lies the corner of the pixel whose centre comes first.
      const auto [left, a] = split(from_x - kParts);
      const auto [top, b] = split(from_y - kParts);
      const Four four = {pixel(left, top), pixel(left + 1, top), pixel(left, top + 1),
                         pixel(left + 1, top + 1)};
      turned.mixed.push_back(static_cast<float>(mixed(four, a, b)));
      turned.mixed_by_unit.push_back(static_cast<float>(mixed_by_unit(four, a, b)));
    }
  }
  return turned;
}

// Pixels lie between 0 and 1, and so do all sums on the way to a mixed one. At most six operations
// round on that way, the reference rounds once, each by at most 2^-25.
constexpr double kRounding = 7 * 0x1p-25;

// What a version left must be the nearest pixel exactly, or the four mixed up to rounding.
bool check(const std::string& version, const Rotation& r, const Turned& turned) {
  const std::vector<float> got =
      version == "array_to_array" ? r.result_array.download() : r.result.download();
  if (version.find("bilinear") == std::string::npos) {
    return all_equal(version, got.data(), turned.nearest.data(), got.size());
  }
  const bool by_unit =
      version.find("array") != std::string::npos || version.find("pitched") != std::string::npos;
  const std::vector<float>& expected = by_unit ? turned.mixed_by_unit : turned.mixed;
  return all_close(version, got.data(), expected.data(), got.size(),
                   [](std::size_t) { return kRounding; });
}

// Overwrites both places for a result with NaN.
void poison(const Rotation& r) {
  r.result.poison();
  r.result_array.overwrite(r.result.get());
}

// Bytes of device memory for the image and the results, with some to spare for the pitch.
inline std::size_t bytes_needed(std::size_t width, std::size_t height) {
  return 5 * width * height * sizeof(float) + 512 * height;
}

// "8192 x 8192 pixels · turned by 30 degrees"; a sweep turns by many angles, walks by none, and the
// other shows have textures of their own.
inline std::string workload_text(std::size_t width, std::size_t height, std::size_t angle,
                                 const std::string& sweep, const std::string& show) {
  if (!show.empty() && show != "walks") return show;
  const std::string size = std::to_string(width) + " x " + std::to_string(height) + " pixels";
  if (!sweep.empty() || !show.empty()) return size;
  return size + " · turned by " + std::to_string(angle) + " degrees";
}

// What one launch moves if nothing is moved twice: the pixels that it needs, and all of the result.
inline double bytes_moved(const Turned& turned) {
  return static_cast<double>((turned.inside + turned.nearest.size()) * sizeof(float));
}
