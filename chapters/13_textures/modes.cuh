// SPDX-License-Identifier: MIT
// Chapter 13, --show modes: what a texture of four texels returns at places inside and outside of
// it, and how it reads integers; beside each value the same by hand. Included by textures.cu.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../../common/common.cuh"

namespace modes {

__global__ void sample_line(cudaTextureObject_t line, const float* x, unsigned n, float* result) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) result[i] = tex1D<float>(line, x[i]);
}

// ---- what is asked -----------------------------------------------------------------------------

struct Mode {
  const char* name;
  cudaTextureAddressMode outside;
  cudaTextureFilterMode filter;
  bool normalized;  // coordinates from 0 to 1 instead of 0 to the number of texels
};

const Mode kModes[] = {
    {"clamp, nearest", cudaAddressModeClamp, cudaFilterModePoint, false},
    {"border, nearest", cudaAddressModeBorder, cudaFilterModePoint, false},
    {"wrap, nearest", cudaAddressModeWrap, cudaFilterModePoint, true},
    {"mirror, nearest", cudaAddressModeMirror, cudaFilterModePoint, true},
    {"clamp, linear", cudaAddressModeClamp, cudaFilterModeLinear, false},
    {"border, linear", cudaAddressModeBorder, cudaFilterModeLinear, false},
    {"wrap, linear", cudaAddressModeWrap, cudaFilterModeLinear, true},
    {"mirror, linear", cudaAddressModeMirror, cudaFilterModeLinear, true},
    // The last two need normalized coordinates. Without, they are taken for clamp in silence.
    {"wrap, not normalized", cudaAddressModeWrap, cudaFilterModePoint, false},
    {"mirror, not normalized", cudaAddressModeMirror, cudaFilterModePoint, false},
};

const std::vector<float> kTexels = {10, 20, 30, 40};

// Places along the texels, the first of which reaches from 0 to 1. All are quarters: the unit's
// weights and the division by 4 are exact.
const std::vector<float> kPlaces = {-5.25f, -1, -0.25f, 0, 0.75f, 1, 2.5f, 3.75f, 4, 4.25f, 9.5f};

// ---- by hand -----------------------------------------------------------------------------------

constexpr std::int64_t kOutside = -1;

// Which of the `count` texels the unit takes for texel `index`, which may lie outside.
inline std::int64_t texel_taken(std::int64_t index, std::int64_t count, const Mode& mode) {
  const auto turns = [&](std::int64_t period) { return ((index % period) + period) % period; };
  if (mode.outside == cudaAddressModeBorder) {
    return index >= 0 && index < count ? index : kOutside;
  }
  if (mode.outside == cudaAddressModeWrap && mode.normalized) return turns(count);
  if (mode.outside == cudaAddressModeMirror && mode.normalized) {
    const std::int64_t there_and_back = turns(2 * count);
    return std::min(there_and_back, 2 * count - 1 - there_and_back);
  }
  return std::clamp<std::int64_t>(index, 0, count - 1);
}

// What the texture returns at `place`, counted in texels.
inline double by_hand(const std::vector<float>& texels, double place, const Mode& mode) {
  const auto texel = [&](double index) {
    const std::int64_t taken = texel_taken(static_cast<std::int64_t>(index),
                                           static_cast<std::int64_t>(texels.size()), mode);
    return taken == kOutside ? 0.0 : static_cast<double>(texels[taken]);
  };
  if (mode.filter == cudaFilterModePoint) return texel(std::floor(place));
  const double left = std::floor(place - 0.5), weight = place - 0.5 - left;
  return (1 - weight) * texel(left) + weight * texel(left + 1);
}

// An integer read as a normalized float: the largest is 1, and of the signed ones the two smallest
// are -1. Floats are as they are.
template <class T>
float normalized(T texel) {
  if constexpr (std::is_floating_point_v<T>) return texel;
  const double largest = std::numeric_limits<T>::max();
  return static_cast<float>(std::max(static_cast<double>(texel) / largest, -1.0));
}

// ---- by the unit -------------------------------------------------------------------------------

// A cudaArray in one dimension.
template <class T>
struct Line {
  explicit Line(const std::vector<T>& texels) {
    const cudaChannelFormatDesc one = cudaCreateChannelDesc<T>();
    const std::size_t bytes = texels.size() * sizeof(T);
    CUDA_CHECK(cudaMallocArray(&array, &one, texels.size()));  // no height: one dimension
    CUDA_CHECK(
        cudaMemcpy2DToArray(array, 0, 0, texels.data(), bytes, bytes, 1, cudaMemcpyHostToDevice));
  }
  ~Line() { cudaFreeArray(array); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  cudaArray_t array = nullptr;
};

// What a texture over `texels` returns at `places`. Integers are read as normalized floats.
template <class T>
std::vector<float> by_unit(const std::vector<T>& texels, const std::vector<float>& places,
                           const Mode& mode) {
  const Line<T> line(texels);
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeArray;
  memory.res.array.array = line.array;
  cudaTextureDesc rules = {};
  rules.addressMode[0] = mode.outside;
  rules.filterMode = mode.filter;
  rules.readMode = std::is_integral_v<T> ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  rules.normalizedCoords = mode.normalized ? 1 : 0;
  const Texture texture(memory, rules);

  std::vector<float> x = places;
  for (float& value : x) value /= mode.normalized ? static_cast<float>(texels.size()) : 1.0f;
  const DeviceArray<float> d_x(x), result(x.size());
  const unsigned n = static_cast<unsigned>(x.size());
  sample_line<<<static_cast<unsigned>(div_up(n, 32)), 32>>>(texture.get(), d_x.get(), n,
                                                            result.get());
  CUDA_CHECK_LAUNCH();
  return result.download();
}

// ---- the tables --------------------------------------------------------------------------------

inline std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

inline std::string cell(const std::string& text, int width) {
  char padded[64];
  std::snprintf(padded, sizeof padded, " %*s |", width, text.c_str());
  return padded;
}

// One line of the table of modes; false when a value is not what it is by hand.
inline bool add_mode(ResultTable& table, const Mode& mode) {
  const std::vector<float> values = by_unit(kTexels, kPlaces, mode);
  std::string line = "|" + cell(mode.name, -22);
  bool ok = true;
  for (std::size_t i = 0; i < kPlaces.size(); ++i) {
    const double expected = by_hand(kTexels, static_cast<double>(kPlaces[i]), mode);
    const std::string place = short_text(static_cast<double>(kPlaces[i]));
    ok &= equals(std::string(mode.name) + " at " + place, static_cast<double>(values[i]), expected);
    line += cell(short_text(static_cast<double>(values[i])), 5);
    table.measured(mode.name, static_cast<double>(values[i]), place.c_str(), "");
  }
  table.note(line + cell(ok ? "ok" : "WRONG", -5));
  return ok;
}

template <class T>
bool add_reads(ResultTable& table, const char* type, const std::vector<T>& texels) {
  const Mode nearest = {type, cudaAddressModeClamp, cudaFilterModePoint, false};
  std::vector<float> centres;
  for (std::size_t i = 0; i < texels.size(); ++i) centres.push_back(static_cast<float>(i) + 0.5f);
  const std::vector<float> values = by_unit(texels, centres, nearest);
  bool ok = true;
  for (std::size_t i = 0; i < texels.size(); ++i) {
    const std::string name = std::string(type) + " " + std::to_string(texels[i]);
    const bool right = equals(name, values[i], normalized(texels[i]));
    char line[96];
    std::snprintf(line, sizeof line, "| %-21s | %10.7f | %10.7f | %-5s |", name.c_str(),
                  static_cast<double>(values[i]), static_cast<double>(normalized(texels[i])),
                  right ? "ok" : "WRONG");
    table.measured(name, static_cast<double>(values[i]), "read as", line);
    ok &= right;
  }
  return ok;
}

// Prints both tables. Returns the exit status of the program.
inline int run(ResultTable& table) {
  table.note("Texels 10, 20, 30, 40; the first reaches from 0 to 1, its centre lies at 0.5.");
  table.note("What the unit returns at places counted in texels:\n");
  std::string head = "|" + cell("mode", -22), rule = "|" + std::string(24, '-') + "|";
  for (const float place : kPlaces) {
    head += cell(short_text(static_cast<double>(place)), 5);
    rule += std::string(6, '-') + ":|";
  }
  table.note(head + cell("check", -5));
  table.note(rule + std::string(7, '-') + "|");
  bool ok = true;
  for (const Mode& mode : kModes) ok &= add_mode(table, mode);
  table.note("\nIntegers read as normalized floats:\n");
  table.note("| stored                | by unit    | by hand    | check |");
  table.note("|-----------------------|-----------:|-----------:|-------|");
  ok &= add_reads<unsigned char>(table, "unsigned char", {0, 1, 51, 128, 255});
  ok &= add_reads<signed char>(table, "signed char", {-128, -127, -1, 0, 127});
  ok &= add_reads<unsigned short>(table, "unsigned short", {1, 32768, 65535});
  const int status = table.finish();
  return ok ? status : kExitWrong;
}

}  // namespace modes
