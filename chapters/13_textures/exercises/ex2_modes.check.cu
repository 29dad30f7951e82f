// SPDX-License-Identifier: MIT
// STARTER FAILS: the predictions are what the texture unit returns
#include <set>

#include "common/labs/testing.cuh"
#include "xray/counts.h"
// the learner's file:
#include LAB_FILE

namespace {

std::vector<float> fetched(cudaTextureFilterMode filter, cudaTextureAddressMode address,
                           bool normalized, const std::vector<float>& at) {
  const float texels[] = {8, 0, 256, 64};
  cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  cudaResourceDesc image{};
  image.resType = cudaResourceTypeArray;
  CUDA_CHECK(cudaMallocArray(&image.res.array.array, &floats, 4, 1));
  CUDA_CHECK(cudaMemcpy2DToArray(image.res.array.array, 0, 0, texels, sizeof texels, sizeof texels,
                                 1, cudaMemcpyHostToDevice));
  cudaTextureDesc how{};
  how.filterMode = filter;
  how.addressMode[0] = how.addressMode[1] = address;
  how.readMode = cudaReadModeElementType;
  how.normalizedCoords = normalized ? 1 : 0;
  cudaTextureObject_t texture = 0;
  CUDA_CHECK(cudaCreateTextureObject(&texture, &image, &how, nullptr));
  const lab::Array<float> d_at(at), result(at.size());
  fetch<<<static_cast<unsigned>(div_up(at.size(), 128)), 128>>>(
      texture, d_at.get(), static_cast<unsigned>(at.size()), result.get());
  CUDA_CHECK_LAUNCH();
  std::vector<float> values = result.download();
  CUDA_CHECK(cudaDestroyTextureObject(texture));
  CUDA_CHECK(cudaFreeArray(image.res.array.array));
  return values;
}

double point(cudaTextureAddressMode address, bool normalized, float at) {
  return static_cast<double>(fetched(cudaFilterModePoint, address, normalized, {at})[0]);
}
double linear(cudaTextureAddressMode address, bool normalized, float at) {
  return static_cast<double>(fetched(cudaFilterModeLinear, address, normalized, {at})[0]);
}

}  // namespace

TEST_CASE("the predictions are what the texture unit returns") {
  const std::string lesson = "chapters/13_textures/README.md: ";
  const std::string notes = "chapters/13_textures/lab_notes.md: ";
  lab::predict("kPoint", kPoint, point(cudaAddressModeClamp, false, 2.99f),
               lesson + "Coordinates instead of addresses");
  lab::predict("kOutside", kOutside, point(cudaAddressModeClamp, false, -7.2f),
               notes + "Outside of the image");
  lab::predict("kBetween", kBetween, linear(cudaAddressModeClamp, false, 2.0f),
               lesson + "Four pixels for one");
  lab::predict("kThird", kThird, linear(cudaAddressModeClamp, false, 1.5f + 1.0f / 3),
               notes + "The weights");
  std::vector<float> steps;
  for (int k = 0; k <= 4096; ++k) steps.push_back(1.5f + static_cast<float>(k) / 4096);
  const std::vector<float> between =
      fetched(cudaFilterModeLinear, cudaAddressModeClamp, false, steps);
  const std::set<float> different(between.begin(), between.end());
  lab::predict("kWeights", kWeights, static_cast<double>(different.size()), notes + "The weights");
  lab::predict("kBorder", kBorder, linear(cudaAddressModeBorder, false, 0.25f),
               notes + "Outside of the image");
  lab::predict("kWrap", kWrap, point(cudaAddressModeWrap, true, 1.7f),
               notes + "Outside of the image");
  lab::predict("kMirror", kMirror, point(cudaAddressModeMirror, true, 1.1f),
               notes + "Outside of the image");
  lab::predict("kWrapMixed", kWrapMixed, linear(cudaAddressModeWrap, true, 0.0f),
               notes + "Outside of the image");
}
