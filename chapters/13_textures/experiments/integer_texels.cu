// SPDX-License-Identifier: MIT
// How does a texture return integers?
//
// As they are, or as floats: the largest is 1, and of the signed ones the two smallest are -1.

#include <limits>

#include "../../../common/common.cuh"
#include "images.cuh"

__global__ void sample_line(cudaTextureObject_t line, const float* x, unsigned n, float* result) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) result[i] = tex1D<float>(line, x[i]);
}

// The same by hand.
template <class T>
__global__ void normalize(const T* texels, int largest, unsigned n, float* result) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) result[i] = static_cast<float>(fmax(texels[i] / static_cast<double>(largest), -1.0));
}

// The texels as a cudaArray in one dimension, each fetched at its centre.
template <class T>
std::vector<float> by_unit(const std::vector<T>& texels) {
  cudaTextureDesc rules = {};  // the nearest texel, clamped, places that count texels
  rules.readMode = cudaReadModeNormalizedFloat;
  const ArrayTexture line(texels, texels.size(), 0, rules);
  const unsigned n = texels.size();
  std::vector<float> centres;
  for (unsigned i = 0; i < n; ++i) centres.push_back(static_cast<float>(i) + 0.5f);
  const DeviceArray<float> x(centres), result(n);
  sample_line<<<blocks_for(n, 32), 32>>>(line.object, x, n, result);
  CUDA_CHECK_LAUNCH();
  return result.download();
}

template <class T>
std::vector<float> by_hand(const std::vector<T>& texels) {
  const unsigned n = texels.size();
  const DeviceArray<T> stored(texels);
  const DeviceArray<float> result(n);
  normalize<T><<<blocks_for(n, 32), 32>>>(stored, std::numeric_limits<T>::max(), n, result);
  CUDA_CHECK_LAUNCH();
  return result.download();
}

// A line for each texel. Returns whether the unit returned what comes out by hand.
template <class T>
bool add_texels(ResultTable& table, const std::string& type, const std::vector<T>& texels) {
  const std::vector<float> unit = by_unit(texels), hand = by_hand(texels);
  for (std::size_t i = 0; i < texels.size(); ++i) {
    const std::string name = text(type, ' ', +texels[i]);
    char line[96];
    std::snprintf(line, sizeof line, "| %-20s | %10.7f | %10.7f |", name.c_str(), unit[i], hand[i]);
    table.measured(name, unit[i], "read as", line);
  }
  return all_equal(type, unit, hand);
}

int main(int argc, char** argv) {
  const Options opt(argc, argv, "13_integer_texels", "how does a texture return integers?", {});
  opt.expect_no_versions();
  ResultTable table(opt, 16);
  table.note("| stored               |    by unit |    by hand |");
  table.note("|----------------------|-----------:|-----------:|");
  bool right = add_texels<unsigned char>(table, "unsigned char", {0, 1, 51, 128, 255});
  right &= add_texels<signed char>(table, "signed char", {-128, -127, -1, 0, 127});
  right &= add_texels<unsigned short>(table, "unsigned short", {1, 32768, 65535});
  return table.finish() == kExitOk && right ? kExitOk : kExitWrong;
}
