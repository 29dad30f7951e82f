// SPDX-License-Identifier: MIT
// Chapter 13: an image that is turned around its middle, and what must come out.
#pragma once

#include "images.cuh"

constexpr int kParts = 512;  ///< cosine and sine of a turn are multiples of 1 / kParts
inline const dim3 k32x1(32, 8), k8x4(8, 32);  ///< blocks in which a warp has 32 x 1 or 8 x 4 pixels

// A turn around the middle of the image: coordinates are multiples of 1/1024, and none is rounded.
struct Turn {
  unsigned width, height;
  float cosine, sine;
  // Where the centre of pixel (x, y) of the result lies in the image.
  __device__ float2 source(unsigned x, unsigned y) const {
    const float middle_x = 0.5f * width, middle_y = 0.5f * height;
    const float right = x + 0.5f - middle_x, down = y + 0.5f - middle_y;
    return {cosine * right + sine * down + middle_x, cosine * down - sine * right + middle_y};
  }
  __device__ bool has(int column, int row) const {
    return column >= 0 && row >= 0 && column < static_cast<int>(width) &&
           row < static_cast<int>(height);
  }
  __device__ std::size_t index(unsigned column, unsigned row) const {
    return static_cast<std::size_t>(row) * width + column;
  }
};

// What must come out: the nearest pixel, 0 outside. Coordinates are whole numbers, of 1/1024 pixel.
__global__ void expect(const float* image, Turn turn, float* nearest) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int width = turn.width, height = turn.height;
  if (x >= width || y >= height) return;
  const int cosine = lrintf(kParts * turn.cosine), sine = lrintf(kParts * turn.sine);
  const int right = 2 * x + 1 - width, down = 2 * y + 1 - height;  // twice the way from the middle
  const int column = (cosine * right + sine * down + kParts * width) >> 10;
  const int row = (cosine * down - sine * right + kParts * height) >> 10;
  const bool inside = column >= 0 && column < width && row >= 0 && row < height;
  nearest[y * width + x] = inside ? image[row * width + column] : 0.0f;
}

/// An image that is turned around its middle.
struct TurnedImage : MovedImage {
  using MovedImage::MovedImage;

  /// Turns it by so many degrees.
  void turn_by(std::size_t degrees) {
    const double angle = degrees * std::acos(-1.0) / 180;
    turn.cosine = std::round(std::cos(angle) * kParts) / kParts;
    turn.sine = std::round(std::sin(angle) * kParts) / kParts;
    expect<<<grid(k32x1), k32x1>>>(plain, turn, result);
    CUDA_CHECK_LAUNCH();
    expected = result.download();
  }

  Turn turn{width, height, 1, 0};
};

/// Adds a row for each version at each of the angles 0, 15, ... 90, as in "plain@15".
template <class Rotation, class Versions>
void add_angles(ResultTable& table, const Versions& versions, Rotation& r) {
  for (std::size_t degrees = 0; degrees <= 90; degrees += 15) {
    r.turn_by(degrees);
    table.each_launch_does(r.amount());
    for (const auto& version : versions) {
      const std::string name = text(version.name, "@", degrees);
      table.add({name.c_str(), version.summary, version.launch}, r);
    }
  }
}
