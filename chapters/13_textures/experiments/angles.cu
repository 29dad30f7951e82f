// SPDX-License-Identifier: MIT
// At which angles does the shape of a warp matter, and at which the texture?

#include "../../../common/common.cuh"
#include "images.cuh"

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

// The image as an array, as rows with a pitch, as a cudaArray; textures over the last two.
struct Rotation : TurnedImage<Turn> {
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
  add_angles(table, kVersions, r, expect);
  return table.finish();
}
