// SPDX-License-Identifier: MIT
// Chapter 13: what the texture unit returns between four pixels, and the picture of how far that is
// off.
#pragma once

#include "images.cuh"

constexpr unsigned kUnitSteps = 256;  ///< between two pixels: weights of 8 bits
constexpr unsigned kCells = 6, kFine = 8, kSide = kCells * kFine;  ///< of the picture, see below

// Mixes at (x, y), one thread per place.
__global__ void sample_places(cudaTextureObject_t image, const float* x, const float* y, unsigned n,
                              float* result) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) result[i] = tex2D<float>(image, x[i], y[i]);
}

/// What a texture of 2 x 2 pixels, which mixes, returns at places in device memory.
inline std::vector<float> sample(const std::vector<float>& pixels, const DeviceArray<float>& x,
                                 const DeviceArray<float>& y) {
  cudaTextureDesc rules = {};  // coordinates that count pixels
  rules.filterMode = cudaFilterModeLinear;
  const ArrayTexture image(pixels, 2, 2, rules);
  const DeviceArray<float> result(x.size());
  sample_places<<<blocks_for(x.size(), 256), 256>>>(image.object, x, y, x.size(), result);
  CUDA_CHECK_LAUNCH();
  return result.download();
}

// The middle of the square between four pixels of 0, 1, 0.75 and 0.25, much enlarged: the places,
// and the exact mixture there. They lie half a fine step beside those where the unit takes its next
// weight.
__global__ void enlarge_middle(float* x, float* y, double* exact) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kSide * kSide) return;
  const double step = 1.0 / (kUnitSteps * kFine);
  const double a = 0.5 + (i % kSide + 0.5 - kSide / 2.0) * step;
  const double b = 0.5 + (i / kSide + 0.5 - kSide / 2.0) * step;
  x[i] = static_cast<float>(0.5 + a);  // 0.5: the centre of the first pixel
  y[i] = static_cast<float>(0.5 + b);
  exact[i] = (1 - b) * a + b * ((1 - a) * 0.75 + a * 0.25);
}

/// The middle of the square between four pixels of 0, 1, 0.75 and 0.25, kCells steps of the unit on
/// a side, each in kFine: what the unit returns there, and what it should.
struct Picture {
  Picture() {
    const DeviceArray<float> x(kSide * kSide), y(kSide * kSide);
    const DeviceArray<double> mixtures(kSide * kSide);
    enlarge_middle<<<blocks_for(kSide * kSide, 256), 256>>>(x, y, mixtures);
    CUDA_CHECK_LAUNCH();
    unit = sample({0, 1, 0.75f, 0.25f}, x, y);
    exact = mixtures.download();
  }

  /// How far the unit is off.
  double largest_error() const {
    double largest = 0;
    for (std::size_t i = 0; i < unit.size(); ++i)
      largest = std::max(largest, std::abs(unit[i] - exact[i]));
    return largest;
  }

  std::vector<float> unit;
  std::vector<double> exact;
};
