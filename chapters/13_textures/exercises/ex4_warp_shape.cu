// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 13, write the kernel: a warp that is a small rectangle.
//
// The image is turned by plain loads. A block makes 32 x 8 pixels of the result, and a warp is one
// row of them. At 90 degrees that row is a column of the image: 32 lanes in 32 sectors. Deal the
// pixels out so that a load of a warp takes at most 11 sectors, on average, at every angle.
// Check it: make lab CH=13 EX=4      A hint: make hint CH=13 EX=4
#include "common/common.cuh"

constexpr unsigned kWide = 32, kHigh = 8;  // pixels of a block, one for each of its 256 threads

struct Pixel {
  unsigned x, y;
};

// The pixel of thread t within its block: x below kWide, y below kHigh, each pixel somebody's.
__device__ Pixel pixel_of(unsigned t) {
  // TODO: which pixels should the 32 threads of a warp have?
  return {t % kWide, t / kWide};
  // end of TODO
}

// Cosine and sine in parts of 1024. All distances are doubled: pixel centres lie at halves.
struct Turn {
  int width, height, cosine, sine;
};

// What lies outside of the image is 0.
__global__ void rotate(const float* image, Turn turn, float* result) {
  const Pixel p = pixel_of(threadIdx.x);
  const int x = static_cast<int>(blockIdx.x * kWide + p.x);
  const int y = static_cast<int>(blockIdx.y * kHigh + p.y);
  if (x >= turn.width || y >= turn.height) return;
  const int right = 2 * x + 1 - turn.width, down = 2 * y + 1 - turn.height;  // from the middle
  const int from_x = turn.cosine * right + turn.sine * down + 1024 * turn.width;
  const int from_y = turn.cosine * down - turn.sine * right + 1024 * turn.height;
  const int column = from_x >> 11, row = from_y >> 11;  // halves of parts of 1024, rounded down
  const bool inside = column >= 0 && row >= 0 && column < turn.width && row < turn.height;
  result[y * turn.width + x] = inside ? image[row * turn.width + column] : 0.0f;
}
