// SPDX-License-Identifier: MIT
// Chapter 13, the top of the ladder: four pixels per thread. Included by textures.cu.
//
// four_plain, four_squarish                 the nearest pixel by plain loads; a warp has 32 x 1 or
//                                           8 x 4 pixels at a time
// four_array                                tex2D from a cudaArray
// four_bilinear_plain, ..._squarish         four pixels mixed by hand
// four_bilinear_array                       by the unit
#pragma once

#include "../../common/common.cuh"

constexpr unsigned kPixels = 4;  // per thread, blockDim.y rows apart

// The loads do not wait for each other: four are under way where there was one.
__global__ void rotate_plain_four(const float* image, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = blockIdx.y * blockDim.y * kPixels + threadIdx.y;
  float pixels[kPixels];
#pragma unroll
  for (unsigned k = 0; k < kPixels; ++k) {
    const Place from = turn.source(x, first + k * blockDim.y);
    const int column = static_cast<int>(floorf(from.x)), row = static_cast<int>(floorf(from.y));
    pixels[k] = turn.has(column, row) ? image[turn.index(column, row)] : 0.0f;
  }
#pragma unroll
  for (unsigned k = 0; k < kPixels; ++k) {
    const unsigned y = first + k * blockDim.y;
    if (x < turn.width && y < turn.height) result[turn.index(x, y)] = pixels[k];
  }
}

__global__ void rotate_texture_four(cudaTextureObject_t image, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = blockIdx.y * blockDim.y * kPixels + threadIdx.y;
  float pixels[kPixels];
#pragma unroll
  for (unsigned k = 0; k < kPixels; ++k) {
    const Place from = turn.source(x, first + k * blockDim.y);
    pixels[k] = tex2D<float>(image, from.x, from.y);
  }
#pragma unroll
  for (unsigned k = 0; k < kPixels; ++k) {
    const unsigned y = first + k * blockDim.y;
    if (x < turn.width && y < turn.height) result[turn.index(x, y)] = pixels[k];
  }
}

__global__ void rotate_mixing_four(const float* image, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = blockIdx.y * blockDim.y * kPixels + threadIdx.y;
  float pixels[kPixels];
#pragma unroll
  for (unsigned k = 0; k < kPixels; ++k) {
    pixels[k] = mixed_at(image, turn, turn.source(x, first + k * blockDim.y));
  }
#pragma unroll
  for (unsigned k = 0; k < kPixels; ++k) {
    const unsigned y = first + k * blockDim.y;
    if (x < turn.width && y < turn.height) result[turn.index(x, y)] = pixels[k];
  }
}

namespace several_pixels {

inline void launch_plain_four(const Rotation& r, dim3 block) {
  rotate_plain_four<<<r.grid(block, kPixels), block>>>(r.plain.get(), r.turn, r.result.get());
}
inline void launch_mixing_four(const Rotation& r, dim3 block) {
  rotate_mixing_four<<<r.grid(block, kPixels), block>>>(r.plain.get(), r.turn, r.result.get());
}
inline void launch_texture_four(const Rotation& r, const Texture& texture, dim3 block) {
  rotate_texture_four<<<r.grid(block, kPixels), block>>>(texture.get(), r.turn, r.result.get());
}

const Version<Rotation> kVersions[] = {
    {"four_plain", "nearest_plain, four pixels per thread",
     [](const Rotation& r) { launch_plain_four(r, kFlat); }},
    {"four_squarish", "nearest_squarish, four pixels per thread",
     [](const Rotation& r) { launch_plain_four(r, kSquarish); }},
    {"four_array", "nearest_array, four pixels per thread, 8 x 4 per warp",
     [](const Rotation& r) { launch_texture_four(r, r.array_nearest, kSquarish); }},
    {"four_bilinear_plain", "bilinear_plain, four pixels per thread",
     [](const Rotation& r) { launch_mixing_four(r, kFlat); }},
    {"four_bilinear_squarish", "bilinear_squarish, four pixels per thread",
     [](const Rotation& r) { launch_mixing_four(r, kSquarish); }},
    {"four_bilinear_array", "bilinear_array, four pixels per thread, 8 x 4 per warp",
     [](const Rotation& r) { launch_texture_four(r, r.array_linear, kSquarish); }},
};

}  // namespace several_pixels
