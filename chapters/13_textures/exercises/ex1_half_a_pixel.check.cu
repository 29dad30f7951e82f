// SPDX-License-Identifier: MIT
// STARTER FAILS: every pixel of the result is mixed by the texture unit, around its own middle
#include <cmath>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

// An image in rows with padding, and what it was filled with. It may be the left part of a wider
// one, `more` pixels wider: then its rows are further apart.
class PitchedImage {
 public:
  PitchedImage(std::size_t width, std::size_t height, std::size_t more)
      : width(width), height(height), pixels(random_floats(width * height, 0, 1, 3)) {
    void* rows = nullptr;
    CUDA_CHECK(cudaMallocPitch(&rows, &pitch, (width + more) * sizeof(float), height));
    CUDA_CHECK(cudaMemset(rows, 0xff, pitch * height));  // padding is NaN
    CUDA_CHECK(cudaMemcpy2D(rows, pitch, pixels.data(), width * sizeof(float),
                            width * sizeof(float), height, cudaMemcpyHostToDevice));
    image = static_cast<float*>(rows);
  }
  ~PitchedImage() {
    for (const cudaTextureObject_t texture : textures) cudaDestroyTextureObject(texture);
    cudaFree(image);
  }
  PitchedImage(const PitchedImage&) = delete;
  PitchedImage& operator=(const PitchedImage&) = delete;

  float pixel(std::size_t row, std::size_t column) const { return pixels[row * width + column]; }

  // The learner's.
  cudaTextureObject_t texture() {
    textures.push_back(
        texture_of(image, static_cast<unsigned>(width), static_cast<unsigned>(height), pitch));
    return textures.back();
  }
  // The learner's again, over half of the rows: the upper ones, or every other one.
  void expect_rows(std::size_t apart) {
    textures.push_back(texture_of(image, static_cast<unsigned>(width),
                                  static_cast<unsigned>(height / 2), apart * pitch));
    cudaResourceDesc rows{};
    CUDA_CHECK(cudaGetTextureObjectResourceDesc(&rows, textures.back()));
    lab::expect_equal("bytes from row to row of the texture", rows.res.pitch2D.pitchInBytes,
                      apart * pitch);
  }
  // One that returns the nearest pixel: whoever mixes by hand does so here, too.
  cudaTextureObject_t unmixed_texture() {
    cudaResourceDesc rows{};
    rows.resType = cudaResourceTypePitch2D;
    rows.res.pitch2D.devPtr = image;
    rows.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    rows.res.pitch2D.width = width;
    rows.res.pitch2D.height = height;
    rows.res.pitch2D.pitchInBytes = pitch;
    cudaTextureDesc how{};
    how.filterMode = cudaFilterModePoint;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    CUDA_CHECK(cudaCreateTextureObject(&texture, &rows, &how, nullptr));
    textures.push_back(texture);
    return texture;
  }

  std::size_t width, height;
  std::vector<float> pixels;
  float* image = nullptr;
  std::size_t pitch = 0;

 private:
  std::vector<cudaTextureObject_t> textures;
};

// A weight of the unit, in steps of 1/256. The tried positions are never between two of them.
struct Weighted {
  std::size_t lower, upper;
  double weight;
};

Weighted neighbours(std::size_t place, double factor, std::size_t size) {
  const double from = (static_cast<double>(place) + 0.5) / factor - 0.5;
  const double steps = std::floor(from * 256 + 0.5), lower = std::floor(steps / 256);
  const auto clamp = [size](double at) {
    return static_cast<std::size_t>(std::min(std::max(at, 0.0), static_cast<double>(size) - 1));
  };
  return {clamp(lower), clamp(lower + 1), steps / 256 - lower};
}

// The image `factor` times as wide and as high.
struct Enlarged {
  Enlarged(const PitchedImage& from, double factor)
      : from(from),
        factor(factor),
        wide(static_cast<unsigned>(static_cast<double>(from.width) * factor)),
        high(static_cast<unsigned>(static_cast<double>(from.height) * factor)) {}

  std::vector<double> mixed() const {
    std::vector<double> expected;
    for (std::size_t y = 0; y < high; ++y) {
      const Weighted row = neighbours(y, factor, from.height);
      for (std::size_t x = 0; x < wide; ++x) {
        const Weighted column = neighbours(x, factor, from.width);
        const auto pixel = [&](std::size_t of_row, std::size_t of_column) {
          return static_cast<double>(from.pixel(of_row, of_column));
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
    return expected;
  }

  // The pixel that each one lies in; for a whole factor, where none lies between two.
  std::vector<double> nearest() const {
    const auto whole = static_cast<std::size_t>(factor);
    std::vector<double> expected;
    for (std::size_t y = 0; y < high; ++y) {
      for (std::size_t x = 0; x < wide; ++x)
        expected.push_back(static_cast<double>(from.pixel(y / whole, x / whole)));
    }
    return expected;
  }

  void launch(cudaTextureObject_t texture, dim3 block, const lab::Array<float>& result) const {
    const dim3 grid(static_cast<unsigned>(div_up(wide, block.x)),
                    static_cast<unsigned>(div_up(high, block.y)));
    enlarge<<<grid, block>>>(texture, static_cast<float>(factor), wide, high, result.get());
    CUDA_CHECK_LAUNCH();
  }

  // 1e-5: far above the rounding of the sums, far below a step of a weight.
  void compare(const std::string& name, const lab::Array<float>& result,
               const std::vector<double>& expected) const {
    lab::expect_close(
        name, result.download(), expected, [](std::size_t) { return 1e-5; }, wide);
  }

  const PitchedImage& from;
  double factor;
  unsigned wide, high;
};

}  // namespace

TEST_CASE("every pixel of the result is mixed by the texture unit, around its own middle") {
  // The last one has a fraction; in odd parts of 4 no position lies between two weights.
  for (const unsigned quarters : {4u, 12u, 4 * lab::drawn(2, 9), 2 * lab::drawn(2, 17) + 1}) {
    const std::size_t more = lab::drawn(130, 400);
    const bool is_tall = lab::drawn(0, 1) == 1;
    const double factor = quarters / 4.0;
    lab::Trials()
        .shapes({{16, 16, 0},
                 {9, 128, 0},
                 {33, 31, 0},
                 {5, 8, 0},
                 {1, 1, 0},
                 {lab::drawn(2, 40), lab::drawn(2, 40), 0}})
        .blocks({16})
        .run([&](const lab::Trial& at) {
          const bool is_usual = at.rows == at.columns;
          PitchedImage from(at.columns, at.rows, is_usual ? 0 : more);
          const Enlarged to(from, factor);
          const std::string by = " by a factor of " + lab::text_of(factor);
          const cudaTextureObject_t texture = from.texture();
          cudaResourceDesc read{};
          CUDA_CHECK(cudaGetTextureObjectResourceDesc(&read, texture));
          lab::expect(read.resType == cudaResourceTypePitch2D &&
                          read.res.pitch2D.devPtr == static_cast<void*>(from.image),
                      "the texture's memory", "the image itself", "something else");

          const std::vector<double> expected = to.mixed();
          const lab::Array<float> result(expected.size());
          const dim3 block = is_usual  ? dim3(at.block, at.block)
                             : is_tall ? dim3(at.block / 2, 2 * at.block)
                                       : dim3(2 * at.block, at.block / 2);
          lab::count([&] { to.launch(texture, block, result); },
                     [&] { to.compare("result" + by, result, expected); },
                     [&](const auto& seen) {
                       lab::exactly("lanes that store a pixel", seen.stores().lanes,
                                    expected.size(), "each pixel has one thread");
                       lab::at_most("pixels that one thread stores",
                                    seen.bytes_stored_by_busiest_thread() / sizeof(float), 1,
                                    "each pixel has one thread");
                     });
          if (quarters % 4 != 0) return;
          to.launch(from.unmixed_texture(), block, result);
          to.compare("result" + by + ", from a texture that takes the nearest pixel", result,
                     to.nearest());
        });
  }
}

TEST_CASE("each texture has the rows that were asked for") {
  lab::once([] {
    PitchedImage image(33, 8, 0);
    for (const std::size_t apart : {1u, 2u}) image.expect_rows(apart);
  });
}

TEST_CASE("more than 2^16 pixels beside or below each other are right") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const std::size_t many = lab::drawn(16500, 17500);
    for (const bool is_wide : {true, false}) {
      PitchedImage from(is_wide ? many : 2, is_wide ? 2 : many, 0);
      const Enlarged to(from, 4);  // which floats divide by exactly
      const std::vector<double> expected = to.mixed();
      const lab::Array<float> result(expected.size());
      const std::string name =
          "result of " + std::to_string(to.wide) + " x " + std::to_string(to.high) + " pixels";
      lab::count([&] { to.launch(from.texture(), is_wide ? dim3(128, 8) : dim3(8, 128), result); },
                 [&] { to.compare(name, result, expected); },
                 [&](const auto& seen) {
                   lab::at_most("pixels that one thread stores",
                                seen.bytes_stored_by_busiest_thread() / sizeof(float), 1,
                                "each pixel has one thread");
                 });
    }
  });
}
