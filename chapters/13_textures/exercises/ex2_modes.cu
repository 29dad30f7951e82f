// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 13, predict, then measure: what does a fetch return?
//
// Put your predictions in place of the -1; change nothing else. The check makes the textures and
// fetches. It says too low or too high, never the number. The image is one row of four texels:
// 8, 0, 256, 64. Texel 0 reaches from 0 to 1, its middle is at 0.5.
// Check it: make lab CH=13 EX=2      A hint: make hint CH=13 EX=2
#include "common/common.cuh"

// Point filtering, clamp
constexpr int kPoint = -1;    // TODO: at 2.99
constexpr int kOutside = -1;  // TODO: at -7.2
// Linear filtering, clamp
constexpr int kBetween = -1;  // TODO: at 2.0
constexpr int kThird = -1;    // TODO: at 1.5 + 1/3; no fraction is lost here but the weight's
constexpr int kWeights = -1;  // TODO: from 1.5 to 2.5, both included: how many different results?
// Linear filtering, the border is 0
constexpr int kBorder = -1;  // TODO: at 0.25
// Normalized coordinates: the row reaches from 0 to 1
constexpr int kWrap = -1;       // TODO: wrap, point, at 1.7
constexpr int kMirror = -1;     // TODO: mirror, point, at 1.1
constexpr int kWrapMixed = -1;  // TODO: wrap, linear, at 0.0

__global__ void fetch(cudaTextureObject_t row, const float* at, unsigned n, float* result) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) result[i] = tex2D<float>(row, at[i], 0.5f);
}
