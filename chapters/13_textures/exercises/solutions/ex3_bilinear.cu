// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 13, write the kernel: what the texture unit does, by hand.
//
// result[i] is the image at at[i], mixed from four pixels as linear filtering does, outside as
// clamp does. The unit counts in steps of 1/256 of a pixel: a position is rounded to a step, halves
// upwards. It lies a steps past the middle of the left pixels, and b past that of the upper ones.
// The lower right pixel weighs a * b / 256 steps, rounded as well; call it both. Upper right has
// a - both, lower left b - both, upper left what remains of 256. With pixels 0 to 255 nothing else
// is rounded, and the check wants the unit's results bit by bit.
// Check it: make lab CH=13 EX=3      A hint: make hint CH=13 EX=3
#include "common/common.cuh"

__global__ void bilinear(const float* image, int width, int height, const float2* at, std::size_t n,
                         float* result) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  // In steps from the middle of the first pixel, which lies half a pixel into the image.
  const float2 from = at[i];
  const int x = static_cast<int>(floorf(from.x * 256 + 0.5f)) - 128;
  const int y = static_cast<int>(floorf(from.y * 256 + 0.5f)) - 128;
  const int column = x >> 8, row = y >> 8, a = x & 255, b = y & 255;
  const int left = min(max(column, 0), width - 1), right = min(max(column + 1, 0), width - 1);
  const int top = min(max(row, 0), height - 1), bottom = min(max(row + 1, 0), height - 1);
  const int both = (a * b + 128) >> 8;
  const float sum = static_cast<float>(256 - a - b + both) * image[top * width + left] +
                    static_cast<float>(a - both) * image[top * width + right] +
                    static_cast<float>(b - both) * image[bottom * width + left] +
                    static_cast<float>(both) * image[bottom * width + right];
  result[i] = sum / 256;
}
