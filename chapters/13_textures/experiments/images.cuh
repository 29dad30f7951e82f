// SPDX-License-Identifier: MIT
// Chapter 13: what several experiments need around their kernels: textures with memory of their
// own, and the result of a turned image.
#pragma once

#include "../../../common/common.cuh"

/// A texture object and its memory: an array, or rows.
struct Texture {
  Texture() = default;
  Texture(const Texture&) = delete;
  ~Texture() {  // an object does not keep its memory alive: it goes first
    cudaDestroyTextureObject(object);
    cudaFreeArray(array);
    cudaFree(rows);
  }

  cudaTextureObject_t object = 0;
  cudaArray_t array = nullptr;
  void* rows = nullptr;
};

/// A texture over a cudaArray of its own.
struct ArrayTexture : Texture {
  /// `height` rows of `width` texels; with a height of 0 a line, in one dimension.
  template <class T>
  ArrayTexture(const std::vector<T>& texels, std::size_t width, std::size_t height,
               const cudaTextureDesc& rules) {
    const cudaChannelFormatDesc one = cudaCreateChannelDesc<T>();
    const std::size_t row_bytes = width * sizeof(T);
    CUDA_CHECK(cudaMallocArray(&array, &one, width, height));
    CUDA_CHECK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), row_bytes, row_bytes,
                                   texels.size() / width, cudaMemcpyHostToDevice));
    cudaResourceDesc memory = {};
    memory.resType = cudaResourceTypeArray;
    memory.res.array.array = array;
    CUDA_CHECK(cudaCreateTextureObject(&object, &memory, &rules, nullptr));
  }
};

/// A texture over rows of floats with a pitch, of its own.
struct PitchedTexture : Texture {
  PitchedTexture(const std::vector<float>& texels, std::size_t width, std::size_t height,
                 const cudaTextureDesc& rules) {
    const std::size_t row_bytes = width * sizeof(float);
    std::size_t pitch = 0;
    CUDA_CHECK(cudaMallocPitch(&rows, &pitch, row_bytes, height));
    CUDA_CHECK(cudaMemcpy2D(rows, pitch, texels.data(), row_bytes, row_bytes, height,
                            cudaMemcpyHostToDevice));
    cudaResourceDesc memory = {};
    memory.resType = cudaResourceTypePitch2D;
    memory.res.pitch2D = {rows, cudaCreateChannelDesc<float>(), width, height, pitch};
    CUDA_CHECK(cudaCreateTextureObject(&object, &memory, &rules, nullptr));
  }
};

/// Rules of reading: the nearest pixel as it is, at coordinates that count pixels; 0 outside.
inline cudaTextureDesc nearest_or_zero() {
  cudaTextureDesc rules = {};
  rules.addressMode[0] = rules.addressMode[1] = cudaAddressModeBorder;
  return rules;
}

/// An image in device memory, and what a kernel makes of it: a result of the same size, each of
/// whose pixels is one of the image, or 0.
struct MovedImage {
  MovedImage(const std::vector<float>& image, unsigned columns, unsigned rows)
      : pixels(image), width(columns), height(rows) {}

  std::vector<float> pixels;
  unsigned width, height;
  DeviceArray<float> plain{pixels}, result{pixels.size()};
  std::vector<float> expected = pixels;  ///< as they lie, unless a program says otherwise

  /// Bytes of the result, and of the pixels that it needs: it is 0 where it needs none.
  double amount() const {
    const auto outside = std::count(expected.begin(), expected.end(), 0.0f);
    return 2.0 * result.bytes() - sizeof(float) * outside;
  }
  void poison() const { result.poison(); }
  bool is_right(const std::string& name) const {
    return all_equal(name, result.download(), expected);
  }
  /// Blocks that cover the result, each so many pixels of it.
  dim3 grid(dim3 block) const {
    return dim3(blocks_for(width, block.x), blocks_for(height, block.y));
  }
};

constexpr int kParts = 512;            ///< cosine and sine of a turn are multiples of 1 / kParts
const dim3 k32x1(32, 8), k8x4(8, 32);  ///< blocks in which a warp has 32 x 1 or 8 x 4 pixels

/// An image that is turned around its middle, as a program's own Turn says.
template <class Turn>
struct TurnedImage : MovedImage {
  using MovedImage::MovedImage;

  /// Turns it by so many degrees. The kernel `expect` leaves what must come out.
  void turn_by(std::size_t degrees, void (*expect)(const float*, Turn, float*)) {
    const double angle = degrees * std::acos(-1.0) / 180;
    turn.cosine = std::round(std::cos(angle) * kParts) / kParts;
    turn.sine = std::round(std::sin(angle) * kParts) / kParts;
    expect<<<grid(k32x1), k32x1>>>(plain, turn, result);
    CUDA_CHECK_LAUNCH();
    expected = result.download();
  }

  Turn turn{width, height, 1, 0};
};

/// Adds a row for each version at each of the angles 0, 15, ... 90, as in "plain@15".
template <class Rotation, class Versions, class Expect>
void add_angles(ResultTable& table, const Versions& versions, Rotation& r, Expect* expect) {
  for (std::size_t degrees = 0; degrees <= 90; degrees += 15) {
    r.turn_by(degrees, expect);
    table.each_launch_does(r.amount());
    for (const auto& version : versions) {
      const std::string name = text(version.name, "@", degrees);
      table.add({name.c_str(), version.summary, version.launch}, r);
    }
  }
}
