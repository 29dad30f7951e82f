// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 13, fix the bug: an image that slants, and is off by half a pixel.
//
// An image gets `factor` times as wide and as high, and the texture unit mixes the pixels between
// (linear filtering). Two things are wrong: where a row begins, and where a pixel is.
// Check it: make lab CH=13 EX=1      A hint: make hint CH=13 EX=1
#include "common/common.cuh"

// A texture over an image from cudaMallocPitch: rows of `width` floats, `pitch` bytes apart.
cudaTextureObject_t texture_of(const float* image, unsigned width, unsigned height,
                               std::size_t pitch) {
  cudaResourceDesc rows{};
  rows.resType = cudaResourceTypePitch2D;
  rows.res.pitch2D.devPtr = const_cast<float*>(image);
  rows.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  rows.res.pitch2D.width = width;
  rows.res.pitch2D.height = height;
  rows.res.pitch2D.pitchInBytes = pitch;  // with the padding after each row
  cudaTextureDesc how{};
  how.filterMode = cudaFilterModeLinear;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  CUDA_CHECK(cudaCreateTextureObject(&texture, &rows, &how, nullptr));
  return texture;
}

// The result has width x height pixels.
__global__ void enlarge(cudaTextureObject_t image, float factor, unsigned width, unsigned height,
                        float* result) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  // Pixel 0 reaches from 0 to 1: its middle lies at 1/2, in the result as in the image.
  const float column = (static_cast<float>(x) + 0.5f) / factor;
  const float row = (static_cast<float>(y) + 0.5f) / factor;
  result[y * width + x] = tex2D<float>(image, column, row);
}
