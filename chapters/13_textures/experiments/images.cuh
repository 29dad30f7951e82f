// SPDX-License-Identifier: MIT
// Chapter 13: what several experiments need around their kernels: textures with memory of their
// own, and what becomes of an image.
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
