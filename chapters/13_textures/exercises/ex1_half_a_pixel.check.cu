// SPDX-License-Identifier: MIT
// STARTER FAILS: every pixel of the result is mixed by the texture unit, around its own middle
#include <cmath>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// An image in rows with padding, and what it was filled with.
class PitchedImage {
 public:
  PitchedImage(std::size_t width, std::size_t height)
      : pixels(random_floats(width * height, 0, 1, 3)) {
    void* rows = nullptr;
    CUDA_CHECK(cudaMallocPitch(&rows, &pitch, width * sizeof(float), height));
    CUDA_CHECK(cudaMemset(rows, 0xff, pitch * height));  // padding is NaN
    CUDA_CHECK(cudaMemcpy2D(rows, pitch, pixels.data(), width * sizeof(float),
                            width * sizeof(float), height, cudaMemcpyHostToDevice));
    image = static_cast<float*>(rows);
  }
  ~PitchedImage() {
    if (texture != 0) cudaDestroyTextureObject(texture);
    cudaFree(image);
  }
  PitchedImage(const PitchedImage&) = delete;
  PitchedImage& operator=(const PitchedImage&) = delete;

  std::vector<float> pixels;
  float* image = nullptr;
  std::size_t pitch = 0;
  cudaTextureObject_t texture = 0;
};

// A weight of the unit, in steps of 1/256. The tried positions are never between two of them.
struct Weighted {
  std::size_t lower, upper;
  double weight;
};

Weighted neighbours(std::size_t place, unsigned factor, std::size_t size) {
  const double from = (static_cast<double>(place) + 0.5) / factor - 0.5;
  const double steps = std::floor(from * 256 + 0.5), lower = std::floor(steps / 256);
  const auto clamp = [size](double at) {
    return static_cast<std::size_t>(std::min(std::max(at, 0.0), static_cast<double>(size) - 1));
  };
  return {clamp(lower), clamp(lower + 1), steps / 256 - lower};
}

}  // namespace

TEST_CASE("every pixel of the result is mixed by the texture unit, around its own middle") {
  for (const unsigned factor : {1u, 3u, lab::drawn(2, 9)}) {
    lab::Trials()
        .shapes({{16, 16, 0},
                 {9, 128, 0},
                 {33, 31, 0},
                 {5, 8, 0},
                 {1, 1, 0},
                 {lab::drawn(2, 40), lab::drawn(2, 40), 0}})
        .blocks({16})
        .run([factor](const lab::Trial& at) {
          PitchedImage from(at.columns, at.rows);
          const auto wide = static_cast<unsigned>(at.columns) * factor;
          const auto high = static_cast<unsigned>(at.rows) * factor;
          std::vector<double> expected;
          for (std::size_t y = 0; y < high; ++y) {
            const Weighted row = neighbours(y, factor, at.rows);
            for (std::size_t x = 0; x < wide; ++x) {
              const Weighted column = neighbours(x, factor, at.columns);
              const auto pixel = [&](std::size_t of_row, std::size_t of_column) {
                return static_cast<double>(from.pixels[of_row * at.columns + of_column]);
              };
              const double a = column.weight * 256, b = row.weight * 256;
              const double both = std::floor(a * b / 256 + 0.5);  // so the unit rounds a product
              expected.push_back(((256 - a - b + both) * pixel(row.lower, column.lower) +
                                  (a - both) * pixel(row.lower, column.upper) +
                                  (b - both) * pixel(row.upper, column.lower) +
                                  both * pixel(row.upper, column.upper)) /
                                 256);
            }
          }

          from.texture = texture_of(from.image, static_cast<unsigned>(at.columns),
                                    static_cast<unsigned>(at.rows), from.pitch);
          cudaResourceDesc read{};
          CUDA_CHECK(cudaGetTextureObjectResourceDesc(&read, from.texture));
          lab::expect(read.resType == cudaResourceTypePitch2D &&
                          read.res.pitch2D.devPtr == static_cast<void*>(from.image),
                      "the texture's memory", "the image itself", "something else");

          const lab::Array<float> result(expected.size());
          const dim3 block(at.block, at.block);
          const dim3 grid(static_cast<unsigned>(div_up(wide, at.block)),
                          static_cast<unsigned>(div_up(high, at.block)));
          lab::count(
              [&] {
                enlarge<<<grid, block>>>(from.texture, static_cast<float>(factor), wide, high,
                                         result.get());
                CUDA_CHECK_LAUNCH();
              },
              [&] {
                // 1e-5: far above the rounding of the sums, far below a step of a weight.
                lab::expect_close(
                    "result", result.download(), expected, [](std::size_t) { return 1e-5; }, wide);
              },
              [&](const auto& seen) {
                lab::exactly("lanes that store a pixel", seen.stores().lanes, expected.size(),
                             "each pixel has one thread");
              });
        });
  }
}
