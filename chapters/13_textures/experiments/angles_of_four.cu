// SPDX-License-Identifier: MIT
// Four pixels per thread: who is fastest at which angle?

#include "../../../common/common.cuh"
#include "turning.cuh"

constexpr unsigned kPixels = 4;  // per thread, blockDim.y rows apart
const dim3 k32x2(32, 2);         // a block of k32x1 with one pixel per thread has as many pixels

__global__ void rotate_plain_four(const float* image, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = blockIdx.y * blockDim.y * kPixels + threadIdx.y;
  float pixels[kPixels];
#pragma unroll
  for (unsigned k = 0; k < kPixels; ++k) {
    const float2 from = turn.source(x, first + k * blockDim.y);
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
    const float2 from = turn.source(x, first + k * blockDim.y);
    pixels[k] = tex2D<float>(image, from.x, from.y);
  }
#pragma unroll
  for (unsigned k = 0; k < kPixels; ++k) {
    const unsigned y = first + k * blockDim.y;
    if (x < turn.width && y < turn.height) result[turn.index(x, y)] = pixels[k];
  }
}

// The image as an array, and as a cudaArray with a texture over it.
struct Rotation : TurnedImage {
  using TurnedImage::TurnedImage;
  dim3 grid(dim3 block) const { return MovedImage::grid(dim3(block.x, kPixels * block.y)); }

  ArrayTexture array{pixels, width, height, nearest_or_zero()};
};

const Version<Rotation> kVersions[] = {
    {"four_plain", "four pixels per thread",
     [](auto& r) { rotate_plain_four<<<r.grid(k32x1), k32x1>>>(r.plain, r.turn, r.result); }},
    {"four_squarish", "four pixels per thread, 8 x 4 pixels per warp",
     [](auto& r) { rotate_plain_four<<<r.grid(k8x4), k8x4>>>(r.plain, r.turn, r.result); }},
    {"four_plain_32x2", "four_plain with blocks of 32 x 2: the pixels of a block with one each",
     [](auto& r) { rotate_plain_four<<<r.grid(k32x2), k32x2>>>(r.plain, r.turn, r.result); }},
    {"four_array_flat", "four pixels per thread, 32 x 1 pixels per warp, a cudaArray",
     [](auto& r) {
       rotate_texture_four<<<r.grid(k32x1), k32x1>>>(r.array.object, r.turn, r.result);
     }},
    {"four_array", "four pixels per thread, 8 x 4 pixels per warp, a cudaArray",
     [](auto& r) {
       rotate_texture_four<<<r.grid(k8x4), k8x4>>>(r.array.object, r.turn, r.result);
     }},
};

int main(int argc, char** argv) {
  std::size_t width = kOnGpu ? 4096 : 203, height = kOnGpu ? 4096 : 149;
  const Options opt(argc, argv, "13_angles_of_four", "who is fastest at which angle?",
                    {{"width", &width, 1, 8192, "pixels in a row of the image"},
                     {"height", &height, 1, 8192, "rows of the image"}});
  const std::size_t bytes = 2 * width * height * sizeof(float);  // the image and the result
  ResultTable table(opt, bytes, bytes);
  table.rate_in("GB/s", "copy", measured_copy_gbps(bytes));
  Rotation r(random_floats(width * height, 0, 1, opt.seed), width, height);
  add_angles(table, kVersions, r);
  return table.finish();
}
