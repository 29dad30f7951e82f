// SPDX-License-Identifier: MIT
// Which way may the lanes of a warp walk through an image?
//
// Along a row, down a column, along a diagonal, by plain loads and through textures.

#include "../../../common/common.cuh"
#include "images.cuh"

constexpr unsigned kBlock = 256;

enum class Walk { kRow, kColumn, kDiagonal };

struct Spot {
  unsigned column, row;
};

// The i-th pixel of a walk. Each walk comes past every pixel once; a diagonal that leaves the image
// on the right goes on at the left.
template <Walk kWalk>
__host__ __device__ Spot spot(unsigned i, unsigned width, unsigned height) {
  if constexpr (kWalk == Walk::kRow) {
    return {i % width, i / width};
  } else if constexpr (kWalk == Walk::kColumn) {
    return {i / height, i % height};
  } else {
    return {(i / height + i % height) % width, i % height};
  }
}

template <Walk kWalk>
__global__ void walk_plain(const float* image, unsigned width, unsigned height, float* result) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height) return;  // at most 2^26
  const Spot at = spot<kWalk>(i, width, height);
  result[i] = image[static_cast<std::size_t>(at.row) * width + at.column];
}

// A pixel's centre lies half a pixel from its corner: there the nearest pixel is this one.
template <Walk kWalk>
__global__ void walk_texture(cudaTextureObject_t image, unsigned width, unsigned height,
                             float* result) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height) return;
  const Spot at = spot<kWalk>(i, width, height);
  result[i] = tex2D<float>(image, at.column + 0.5f, at.row + 0.5f);
}

// The image as an array, as rows with a pitch, and as a cudaArray, with textures over the last two.
// They have no rules: the nearest pixel, clamped to the image, as it is.
struct Image : MovedImage {
  using MovedImage::MovedImage;  // along the rows the pixels come out as they lie

  // Walks down from each pixel of the first row, with each step kAside columns to the right.
  template <std::size_t kAside>
  bool walks_down(const std::string& name) const {
    std::vector<float> walked;
    for (std::size_t first = 0; first < width; ++first)
      for (std::size_t row = 0; row < height; ++row)
        walked.push_back(pixels[row * width + (first + kAside * row) % width]);
    return all_equal(name, result.download(), walked);
  }

  unsigned grid = blocks_for(result.size(), kBlock);
  PitchedTexture over_rows{pixels, width, height, {}};
  ArrayTexture over_array{pixels, width, height, {}};
};

template <Walk kWalk>
void plain(const Image& image) {
  walk_plain<kWalk><<<image.grid, kBlock>>>(image.plain, image.width, image.height, image.result);
}
template <Walk kWalk, auto kTexture>
void texture(const Image& i) {
  walk_texture<kWalk><<<i.grid, kBlock>>>((i.*kTexture).object, i.width, i.height, i.result);
}

const Version<Image> kVersions[] = {
    {"row_plain", "lanes along a row, plain loads", plain<Walk::kRow>},
    {"row_pitched", "the same by tex2D, rows with a pitch", texture<Walk::kRow, &Image::over_rows>},
    {"row_array", "the same by tex2D, a cudaArray", texture<Walk::kRow, &Image::over_array>},
    {"column_plain", "lanes down a column, plain loads", plain<Walk::kColumn>,
     &Image::walks_down<0>},
    {"column_pitched", "the same by tex2D, rows with a pitch",
     texture<Walk::kColumn, &Image::over_rows>, &Image::walks_down<0>},
    {"column_array", "the same by tex2D, a cudaArray", texture<Walk::kColumn, &Image::over_array>,
     &Image::walks_down<0>},
    {"diagonal_plain", "lanes along a diagonal, plain loads", plain<Walk::kDiagonal>,
     &Image::walks_down<1>},
    {"diagonal_pitched", "the same by tex2D, rows with a pitch",
     texture<Walk::kDiagonal, &Image::over_rows>, &Image::walks_down<1>},
    {"diagonal_array", "the same by tex2D, a cudaArray",
     texture<Walk::kDiagonal, &Image::over_array>, &Image::walks_down<1>},
};

int main(int argc, char** argv) {
  std::size_t width = kOnGpu ? 4096 : 203, height = kOnGpu ? 4096 : 149;
  const Options opt(argc, argv, "13_image_walks", "which way may a warp walk through an image?",
                    {{"width", &width, 1, 8192, "pixels in a row of the image"},
                     {"height", &height, 1, 8192, "rows of the image"}});
  const std::size_t bytes = 2 * width * height * sizeof(float);  // the image and the result
  ResultTable table(opt, bytes, bytes + 512 * height);           // and two more of the image
  table.rate_in("GB/s", "copy", measured_copy_gbps(bytes));
  const Image image(random_floats(width * height, 0, 1, opt.seed), width, height);
  for (const auto& version : kVersions) table.add(version, image);
  return table.finish();
}
