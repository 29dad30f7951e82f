// SPDX-License-Identifier: MIT
// Chapter 13, --show walks: all pixels of the image, one per thread, with the lanes of a warp along
// a row, down a column, or along a diagonal. Included by textures.cu.
#pragma once

#include <string>
#include <vector>

#include "../../common/common.cuh"

namespace walks {

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

// A pixel's centre lies half a pixel behind its corner: there the nearest pixel is this one.
template <Walk kWalk>
__global__ void walk_texture(cudaTextureObject_t image, unsigned width, unsigned height,
                             float* result) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height) return;
  const Spot at = spot<kWalk>(i, width, height);
  result[i] = tex2D<float>(image, at.column + 0.5f, at.row + 0.5f);
}

// ---- the rows ----------------------------------------------------------------------------------

constexpr unsigned kBlock = 256;

inline unsigned grid_of(const Rotation& r) {
  return static_cast<unsigned>(div_up(r.result.size(), kBlock));
}

template <Walk kWalk>
void launch_plain(const Rotation& r) {
  walk_plain<kWalk>
      <<<grid_of(r), kBlock>>>(r.plain.get(), r.turn.width, r.turn.height, r.result.get());
}
template <Walk kWalk>
void launch_texture(const Rotation& r, const Texture& texture) {
  walk_texture<kWalk>
      <<<grid_of(r), kBlock>>>(texture.get(), r.turn.width, r.turn.height, r.result.get());
}

const Version<Rotation> kVersions[] = {
    {"row_plain", "lanes along a row, plain loads", launch_plain<Walk::kRow>},
    {"row_pitched", "the same by tex2D, rows with a pitch",
     [](const Rotation& r) { launch_texture<Walk::kRow>(r, r.pitched_nearest); }},
    {"row_array", "the same by tex2D, a cudaArray",
     [](const Rotation& r) { launch_texture<Walk::kRow>(r, r.array_nearest); }},
    {"column_plain", "lanes down a column, plain loads", launch_plain<Walk::kColumn>},
    {"column_pitched", "the same by tex2D, rows with a pitch",
     [](const Rotation& r) { launch_texture<Walk::kColumn>(r, r.pitched_nearest); }},
    {"column_array", "the same by tex2D, a cudaArray",
     [](const Rotation& r) { launch_texture<Walk::kColumn>(r, r.array_nearest); }},
    {"diagonal_plain", "lanes along a diagonal, plain loads", launch_plain<Walk::kDiagonal>},
    {"diagonal_pitched", "the same by tex2D, rows with a pitch",
     [](const Rotation& r) { launch_texture<Walk::kDiagonal>(r, r.pitched_nearest); }},
    {"diagonal_array", "the same by tex2D, a cudaArray",
     [](const Rotation& r) { launch_texture<Walk::kDiagonal>(r, r.array_nearest); }},
};

// The pixels in the order of the walk that the version's name begins with.
inline std::vector<float> expected(const std::string& version, const std::vector<float>& pixels,
                                   unsigned width, unsigned height) {
  std::vector<float> walked;
  walked.reserve(pixels.size());
  const auto take = [&](std::size_t column, std::size_t row) {
    walked.push_back(pixels[row * width + column]);
  };
  if (version.rfind("row", 0) == 0) return pixels;
  const bool slanted = version.rfind("diagonal", 0) == 0;
  for (std::size_t first = 0; first < width; ++first) {
    for (std::size_t row = 0; row < height; ++row)
      take(slanted ? (first + row) % width : first, row);
  }
  return walked;
}

inline bool check(const std::string& version, const Rotation& r,
                  const std::vector<float>& expected) {
  return all_equal(version, r.result.download().data(), expected.data(), expected.size());
}

// Prints the rows. Returns the exit status of the program.
inline int run(ResultTable& table, const std::vector<float>& pixels, const Rotation& r) {
  for (const auto& version : kVersions) {
    if (!table.options().wants(version.name)) continue;
    const std::vector<float> walked = expected(version.name, pixels, r.turn.width, r.turn.height);
    add_measured_row(
        table, version.name, 2.0 * static_cast<double>(r.result.bytes()), [&] { poison(r); },
        [&] { version.launch(r); }, [&] { return check(version.name, r, walked); });
  }
  return table.finish();
}

}  // namespace walks
