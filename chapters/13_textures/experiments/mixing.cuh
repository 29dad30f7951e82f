// SPDX-License-Identifier: MIT
// Chapter 13: what the experiments on the weights of the texture unit need around their kernels:
// what it returns between four pixels, and the picture of how far that is off.
#pragma once

#include "images.cuh"

constexpr unsigned kUnitSteps = 256;  ///< between two pixels: weights of 8 bits
constexpr unsigned kCells = 6, kFine = 8, kSide = kCells * kFine;  ///< of the picture, see below

/// What a texture of 2 x 2 pixels, which mixes, returns at places in device memory. The kernel has
/// a thread for each of n places.
inline std::vector<float> sample(void (*kernel)(cudaTextureObject_t image, const float* x,
                                                const float* y, unsigned n, float* result),
                                 const std::vector<float>& pixels, const DeviceArray<float>& x,
                                 const DeviceArray<float>& y) {
  cudaTextureDesc rules = {};  // coordinates that count pixels
  rules.filterMode = cudaFilterModeLinear;
  const ArrayTexture image(pixels, 2, 2, rules);
  const DeviceArray<float> result(x.size());
  kernel<<<blocks_for(x.size(), 256), 256>>>(image.object, x, y, x.size(), result);
  CUDA_CHECK_LAUNCH();
  return result.download();
}

/// The middle of the square between four pixels of 0, 1, 0.75 and 0.25, kCells steps of the unit on
/// a side, each in kFine: what the unit returns there, and what it should.
struct Picture {
  /// `enlarge` leaves the places and the exact mixtures, `sample_places` what sample() needs.
  template <class Enlarge, class SamplePlaces>
  Picture(Enlarge* enlarge, SamplePlaces* sample_places) {
    const DeviceArray<float> x(kSide * kSide), y(kSide * kSide);
    const DeviceArray<double> mixtures(kSide * kSide);
    enlarge<<<blocks_for(kSide * kSide, 256), 256>>>(x, y, mixtures);
    CUDA_CHECK_LAUNCH();
    unit = sample(sample_places, {0, 1, 0.75f, 0.25f}, x, y);
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
