// SPDX-License-Identifier: MIT
// What does a texture return outside of its texels?
//
// Four texels, read in every mode; beside the unit a kernel that does the same by hand.

#include "../../../common/common.cuh"
#include "images.cuh"

// How a texture is read. Places count texels; normalized ones go from 0 to 1 instead.
struct Rules {
  cudaTextureAddressMode outside;
  cudaTextureFilterMode filter;
  bool normalized;
};

__global__ void sample_line(cudaTextureObject_t line, const float* x, unsigned n, float* result) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) result[i] = tex1D<float>(line, x[i]);
}

// The texel with a number that may lie outside. Wrap and mirror need normalized places: without,
// they are taken for clamp in silence.
__device__ float texel(const float* texels, int count, int number, Rules rules) {
  const auto turns = [=](int period) { return (number % period + period) % period; };
  if (rules.outside == cudaAddressModeBorder)
    return number >= 0 && number < count ? texels[number] : 0;
  if (rules.outside == cudaAddressModeWrap && rules.normalized) return texels[turns(count)];
  if (rules.outside == cudaAddressModeMirror && rules.normalized) {
    const int there_and_back = turns(2 * count);
    return texels[min(there_and_back, 2 * count - 1 - there_and_back)];
  }
  return texels[min(max(number, 0), count - 1)];
}

// What the unit does, at places that count texels.
__global__ void sample_by_hand(const float* texels, int count, Rules rules, const float* places,
                               unsigned n, float* result) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (rules.filter == cudaFilterModePoint) {
    result[i] = texel(texels, count, static_cast<int>(floorf(places[i])), rules);
  } else {  // mixed by how near the two centres are
    const int left = static_cast<int>(floorf(places[i] - 0.5f));
    const float weight = places[i] - 0.5f - static_cast<float>(left);
    result[i] = (1 - weight) * texel(texels, count, left, rules) +
                weight * texel(texels, count, left + 1, rules);
  }
}

const std::pair<const char*, Rules> kModes[] = {
    {"clamp, nearest", {cudaAddressModeClamp, cudaFilterModePoint, false}},
    {"border, nearest", {cudaAddressModeBorder, cudaFilterModePoint, false}},
    {"wrap, nearest", {cudaAddressModeWrap, cudaFilterModePoint, true}},
    {"mirror, nearest", {cudaAddressModeMirror, cudaFilterModePoint, true}},
    {"clamp, linear", {cudaAddressModeClamp, cudaFilterModeLinear, false}},
    {"border, linear", {cudaAddressModeBorder, cudaFilterModeLinear, false}},
    {"wrap, linear", {cudaAddressModeWrap, cudaFilterModeLinear, true}},
    {"mirror, linear", {cudaAddressModeMirror, cudaFilterModeLinear, true}},
    {"wrap, not normalized", {cudaAddressModeWrap, cudaFilterModePoint, false}},
    {"mirror, not normalized", {cudaAddressModeMirror, cudaFilterModePoint, false}},
};

const std::vector<float> kTexels = {10, 20, 30, 40};

// Places along the texels, the first of which reaches from 0 to 1. All are quarters: the unit's
// weights and the division by 4 are exact.
const std::vector<float> kPlaces = {-5.25f, -1, -0.25f, 0, 0.75f, 1, 2.5f, 3.75f, 4, 4.25f, 9.5f};

std::vector<float> by_unit(std::vector<float> places, Rules rules) {
  cudaTextureDesc how = {};
  how.addressMode[0] = rules.outside;
  how.filterMode = rules.filter;
  how.normalizedCoords = rules.normalized;
  const ArrayTexture line(kTexels, kTexels.size(), 0, how);
  for (float& x : places) x /= rules.normalized ? 4 : 1;
  const DeviceArray<float> x(places), result(places.size());
  sample_line<<<blocks_for(x.size(), 32), 32>>>(line.object, x, x.size(), result);
  CUDA_CHECK_LAUNCH();
  return result.download();
}

std::vector<float> by_hand(const std::vector<float>& places, Rules rules) {
  const DeviceArray<float> texels(kTexels), d_places(places), result(places.size());
  const unsigned n = places.size();
  sample_by_hand<<<blocks_for(n, 32), 32>>>(texels, 4, rules, d_places, n, result);
  CUDA_CHECK_LAUNCH();
  return result.download();
}

int main(int argc, char** argv) {
  const Options opt(argc, argv, "13_address_modes", "what is returned outside of the texels?", {});
  ResultTable table(opt, kTexels.size() * sizeof(float));
  std::printf("Texels 10, 20, 30, 40; the first reaches from 0 to 1, its centre lies at 0.5.\n\n");
  std::printf("| place                  |");
  for (const float place : kPlaces) std::printf(" %5g |", place);
  std::printf(" check |\n|------------------------|");
  for (std::size_t i = 0; i < kPlaces.size(); ++i) std::printf("------:|");
  std::printf("-------|\n");
  bool all_right = true;
  for (const auto& [name, rules] : kModes) {
    const std::vector<float> unit = by_unit(kPlaces, rules);
    const bool right = all_equal(name, unit, by_hand(kPlaces, rules));
    std::printf("| %-22s |", name);
    for (std::size_t i = 0; i < unit.size(); ++i) {
      std::printf(" %5g |", unit[i]);
      table.measured(name, unit[i], text(kPlaces[i]));
    }
    std::printf(" %-5s |\n", right ? "ok" : "WRONG");
    all_right = all_right && right;
  }
  return table.finish() == kExitOk && all_right ? kExitOk : kExitWrong;
}
