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
  // TODO: steps, the four pixels, their weights
  (void)image, (void)width, (void)height, (void)at, (void)result;  // not used yet
  // end of TODO
}
