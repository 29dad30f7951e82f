// SPDX-License-Identifier: MIT
// At which angles does the shape of a warp matter, and at which the texture?

#include "../../../common/common.cuh"
#include "turning.cuh"

__global__ void rotate_plain(const float* image, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= turn.width || y >= turn.height) return;
  const float2 from = turn.source(x, y);
  const int column = static_cast<int>(floorf(from.x)), row = static_cast<int>(floorf(from.y));
  result[turn.index(x, y)] = turn.has(column, row) ? image[turn.index(column, row)] : 0.0f;
}

__global__ void rotate_texture(cudaTextureObject_t image, Turn turn, float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= turn.width || y >= turn.height) return;
  const float2 from = turn.source(x, y);
  result[turn.index(x, y)] = tex2D<float>(image, from.x, from.y);
}

// The image as an array, as rows with a pitch, as a cudaArray; textures over the last two.
struct Rotation : TurnedImage {
  using TurnedImage::TurnedImage;

  PitchedTexture rows{pixels, width, height, nearest_or_zero()};
  ArrayTexture array{pixels, width, height, nearest_or_zero()};
};

const Version<Rotation> kVersions[] = {
    {"plain", "nearest_plain",
     [](auto& r) { rotate_plain<<<r.grid(k32x1), k32x1>>>(r.plain, r.turn, r.result); }},
    {"squarish", "nearest_squarish",
     [](auto& r) { rotate_plain<<<r.grid(k8x4), k8x4>>>(r.plain, r.turn, r.result); }},
    {"pitched", "nearest_pitched",
     [](auto& r) { rotate_texture<<<r.grid(k32x1), k32x1>>>(r.rows.object, r.turn, r.result); }},
    {"array", "nearest_array",
     [](auto& r) { rotate_texture<<<r.grid(k32x1), k32x1>>>(r.array.object, r.turn, r.result); }},
    {"array_squarish", "nearest_array, 8 x 4 pixels per warp",
     [](auto& r) { rotate_texture<<<r.grid(k8x4), k8x4>>>(r.array.object, r.turn, r.result); }},
};

int main(int argc, char** argv) {
  std::size_t width = kOnGpu ? 4096 : 203, height = kOnGpu ? 4096 : 149;
  const Options opt(argc, argv, "13_angles", "at which angles does the shape of a warp matter?",
                    {{"width", &width, 1, 8192, "pixels in a row of the image"},
                     {"height", &height, 1, 8192, "rows of the image"}});
  const std::size_t bytes = 2 * width * height * sizeof(float);  // the image and the result
  ResultTable table(opt, bytes, bytes + 512 * height);
  table.rate_in("GB/s", "copy", measured_copy_gbps(bytes));
  Rotation r(random_floats(width * height, 0, 1, opt.seed), width, height);
  add_angles(table, kVersions, r);
  return table.finish();
}
