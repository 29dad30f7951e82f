// SPDX-License-Identifier: MIT
// Chapter 13, where an image can live, and the texture and surface objects over it. Included by
// textures.cu.
//
// PitchedImage  rows of ordinary memory; each begins where the hardware likes rows to begin
// ArrayImage    a cudaArray: memory whose layout is the driver's secret, reached by objects alone
// Texture       a texture object, which lives no longer than the memory below it
// Surface       a surface object: reads and writes of a cudaArray
// Rotation      all of them for one image, and places for the result
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "../../common/common.cuh"

struct PitchedImage {
  PitchedImage(const std::vector<float>& pixels, unsigned columns, unsigned lines)
      : width(columns), height(lines) {
    const std::size_t row_bytes = width * sizeof(float);
    CUDA_CHECK(cudaMallocPitch(&rows, &pitch, row_bytes, height));  // pitch >= row_bytes
    CUDA_CHECK(cudaMemcpy2D(rows, pitch, pixels.data(), row_bytes, row_bytes, height,
                            cudaMemcpyHostToDevice));
  }
  ~PitchedImage() { cudaFree(rows); }
  PitchedImage(const PitchedImage&) = delete;
  PitchedImage& operator=(const PitchedImage&) = delete;

  unsigned width, height;
  void* rows = nullptr;
  std::size_t pitch = 0;  // bytes from one row to the next
};

struct ArrayImage {
  ArrayImage(const std::vector<float>& pixels, unsigned columns, unsigned rows)
      : width(columns), height(rows) {
    const cudaChannelFormatDesc one_float = cudaCreateChannelDesc<float>();
    CUDA_CHECK(cudaMallocArray(&array, &one_float, width, height, cudaArraySurfaceLoadStore));
    const std::size_t row_bytes = width * sizeof(float);
    CUDA_CHECK(cudaMemcpy2DToArray(array, 0, 0, pixels.data(), row_bytes, row_bytes, height,
                                   cudaMemcpyHostToDevice));
  }
  ~ArrayImage() { cudaFreeArray(array); }
  ArrayImage(const ArrayImage&) = delete;
  ArrayImage& operator=(const ArrayImage&) = delete;

  // Copies rows of device memory, one after the other, over the whole image.
  void overwrite(const float* pixels) const {
    const std::size_t row_bytes = width * sizeof(float);
    CUDA_CHECK(cudaMemcpy2DToArray(array, 0, 0, pixels, row_bytes, row_bytes, height,
                                   cudaMemcpyDeviceToDevice));
  }
  std::vector<float> download() const {
    std::vector<float> pixels(static_cast<std::size_t>(width) * height);
    const std::size_t row_bytes = width * sizeof(float);
    CUDA_CHECK(cudaMemcpy2DFromArray(pixels.data(), row_bytes, array, 0, 0, row_bytes, height,
                                     cudaMemcpyDeviceToHost));
    return pixels;
  }

  unsigned width, height;
  cudaArray_t array = nullptr;
};

class Texture {
 public:
  Texture(const cudaResourceDesc& memory, const cudaTextureDesc& rules) {
    CUDA_CHECK(cudaCreateTextureObject(&object_, &memory, &rules, nullptr));
  }
  ~Texture() {
    if (object_ != 0) cudaDestroyTextureObject(object_);
  }
  Texture(Texture&& other) noexcept : object_(std::exchange(other.object_, 0)) {}
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  cudaTextureObject_t get() const { return object_; }

 private:
  cudaTextureObject_t object_ = 0;
};

// Linear memory: elements in a row, fetched by index. There is nothing to set for it.
template <class T>
Texture over_elements(const DeviceArray<T>& elements) {
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeLinear;
  memory.res.linear.devPtr = elements.get();
  memory.res.linear.desc = cudaCreateChannelDesc<T>();
  memory.res.linear.sizeInBytes = elements.bytes();
  return Texture(memory, cudaTextureDesc{});
}

// In both directions: 0 outside, which is the colour of the border unless another is set.
inline cudaTextureDesc zero_outside(cudaTextureFilterMode filter) {
  cudaTextureDesc rules = {};
  rules.addressMode[0] = rules.addressMode[1] = cudaAddressModeBorder;
  rules.filterMode = filter;                 // point: the nearest texel; linear: four mixed
  rules.readMode = cudaReadModeElementType;  // floats are returned as they are
  rules.normalizedCoords = 0;                // coordinates count pixels
  return rules;
}

inline Texture over_rows(const PitchedImage& image, cudaTextureFilterMode filter) {
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypePitch2D;
  memory.res.pitch2D.devPtr = image.rows;
  memory.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  memory.res.pitch2D.width = image.width;
  memory.res.pitch2D.height = image.height;
  memory.res.pitch2D.pitchInBytes = image.pitch;
  return Texture(memory, zero_outside(filter));
}

inline Texture over_array(const ArrayImage& image, cudaTextureFilterMode filter) {
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeArray;
  memory.res.array.array = image.array;
  return Texture(memory, zero_outside(filter));
}

class Surface {
 public:
  explicit Surface(const ArrayImage& image) {
    cudaResourceDesc memory = {};
    memory.resType = cudaResourceTypeArray;
    memory.res.array.array = image.array;  // made with cudaArraySurfaceLoadStore
    CUDA_CHECK(cudaCreateSurfaceObject(&object_, &memory));
  }
  ~Surface() { cudaDestroySurfaceObject(object_); }
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;

  cudaSurfaceObject_t get() const { return object_; }

 private:
  cudaSurfaceObject_t object_ = 0;
};

// The turn by so many degrees, its cosine and sine rounded to the steps that Turn asks for.
inline Turn turn_by(std::size_t degrees, std::size_t width, std::size_t height) {
  const double angle = static_cast<double>(degrees) * std::acos(-1.0) / 180;
  const auto rounded = [](double value) {
    return static_cast<float>(std::round(value * kParts)) / kParts;
  };
  return {static_cast<unsigned>(width), static_cast<unsigned>(height), rounded(std::cos(angle)),
          rounded(std::sin(angle))};
}

// The image wherever a version reads it, and the places for the result.
struct Rotation {
  Rotation(const std::vector<float>& pixels, const Turn& by)
      : turn(by),
        plain(pixels),
        pitched(pixels, by.width, by.height),
        array(pixels, by.width, by.height),
        fetch(over_elements(plain)),
        pitched_nearest(over_rows(pitched, cudaFilterModePoint)),
        pitched_linear(over_rows(pitched, cudaFilterModeLinear)),
        array_nearest(over_array(array, cudaFilterModePoint)),
        array_linear(over_array(array, cudaFilterModeLinear)),
        result(pixels.size()),
        result_array(pixels, by.width, by.height),
        surface(result_array) {}

  // As many blocks as cover the result, if a thread computes `pixels` below each other.
  dim3 grid(dim3 block, unsigned pixels = 1) const {
    return dim3(static_cast<unsigned>(div_up(turn.width, block.x)),
                static_cast<unsigned>(div_up(turn.height, block.y * pixels)));
  }

  Turn turn;
  DeviceArray<float> plain;  // row after row
  PitchedImage pitched;
  ArrayImage array;
  Texture fetch, pitched_nearest, pitched_linear, array_nearest, array_linear;
  DeviceArray<float> result;
  ArrayImage result_array;
  Surface surface;
};
