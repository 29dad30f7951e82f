// SPDX-License-Identifier: MIT
// Fetches through every kind of texture object, at coordinates and over texels that a formula
// gives. stored_samples.cu stores what an H200 returns, in texture_samples.csv;
// textures.test.cu asks the CPU backend for the same.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../../common/common.cuh"

namespace texture_samples {

enum class Memory { kLinear, kPitched, kArray };
enum class Texels { kRandom, kWideRange, kSpecial };

constexpr int kFetches = 10000;
constexpr int kGroup = 100;  // fetches that one number in the file stands for

/// A texture object, and the texels under it.
struct Mode {
  Memory memory = Memory::kArray;
  int dimensions = 2;
  int width = 37, height = 23, depth = 1;
  int bits = 32, channels = 1;
  cudaChannelFormatKind kind = cudaChannelFormatKindFloat;
  cudaTextureFilterMode filter = cudaFilterModePoint;
  cudaTextureAddressMode address = cudaAddressModeClamp;
  bool normalized = false;
  cudaTextureReadMode read = cudaReadModeElementType;
  Texels texels = Texels::kRandom;
};

inline std::string name_of(const Mode& mode) {
  const char* const memories[] = {"linear", "pitched", "array"};
  const char* const addresses[] = {"wrap", "clamp", "mirror", "border"};
  const char* const kinds[] = {"s", "u", "f"};
  const char* const texels[] = {"", " wide", " special"};
  char text[160];
  std::snprintf(
      text, sizeof(text), "%s %dD %s%dx%d %s %s %s%s%s", memories[static_cast<int>(mode.memory)],
      mode.dimensions, kinds[static_cast<int>(mode.kind)], mode.bits, mode.channels,
      mode.filter == cudaFilterModeLinear ? "linear" : "point",
      addresses[static_cast<int>(mode.address)], mode.normalized ? "normalized" : "texels",
      mode.read == cudaReadModeNormalizedFloat ? " as_float" : "",
      texels[static_cast<int>(mode.texels)]);
  return text;
}

/// The bits of one component of one texel.
inline std::uint32_t texel_bits(const Mode& mode, std::uint64_t index) {
  const std::uint64_t random = random_bits(11, index);
  const auto low = static_cast<std::uint32_t>(random);
  if (mode.kind != cudaChannelFormatKindFloat) return low;
  if (mode.texels == Texels::kSpecial && random >> 61 == 0) {
    const std::uint32_t single[] = {0x7f800000u, 0xff800000u, 0x7fc00001u, 0x00000001u,
                                    0x80000000u, 0x7f7fffffu, 0x007fffffu, 0xff7fffffu};
    const std::uint32_t half[] = {0x7c00u, 0xfc00u, 0x7e01u, 0x0001u,
                                  0x8000u, 0x7bffu, 0x03ffu, 0xfbffu};
    return (mode.bits == 32 ? single : half)[random >> 32 & 7];
  }
  if (mode.bits == 16) {  // any half that is finite
    return (low & 0x7c00u) == 0x7c00u ? low & 0x83ffu : low & 0xffffu;
  }
  // Sign and fraction are random; the exponent is -1, or between -20 and 20.
  std::uint32_t exponent = 126;
  if (mode.texels == Texels::kWideRange)
    exponent = 107 + static_cast<std::uint32_t>(random >> 32) % 41;
  return (low & 0x807fffffu) | exponent << 23;
}

/// Coordinate `axis` of fetch `index`, in texels: in every place where the rules have an edge.
inline float coordinate(const Mode& mode, int axis, int index) {
  const int size = axis == 0 ? mode.width : axis == 1 ? mode.height : mode.depth;
  if (mode.memory == Memory::kLinear) {  // a number of a texel; the backend reports all others
    return static_cast<float>(random_int(0, size - 1, 31, static_cast<std::uint64_t>(index)));
  }
  const auto number = static_cast<std::uint64_t>(index) * 4 + static_cast<std::uint64_t>(axis);
  const std::uint64_t random = random_bits(23, number);
  const float unit = std::ldexp(static_cast<float>(random >> 40), -24);  // in [0, 1)
  const int near = random_int(-2 * size, 3 * size, 29, number);
  float x = 0;
  switch (random & 15) {
    default:  // inside, and some texels around
      x = (unit * 1.25f - 0.125f) * static_cast<float>(size);
      break;
    case 8:
      x = static_cast<float>(near) + 0.5f;  // a texel's centre
      break;
    case 9:
      x = static_cast<float>(near);  // an edge between two
      break;
    case 10:  // multiples of 1/512: where the fraction is rounded
      x = static_cast<float>(near) + std::ldexp(static_cast<float>(random >> 32 & 511), -9);
      break;
    case 11:  // the neighbours of such a place
      x = static_cast<float>(near) + std::ldexp(static_cast<float>(random >> 32 & 511), -9);
      x = std::nextafter(x, random >> 50 & 1 ? INFINITY : -INFINITY);
      break;
    case 12:
      x = (unit * 5 - 2) * static_cast<float>(size);
      break;
    case 13:  // up to 2^40, both signs
      x = std::ldexp(unit - 0.5f, static_cast<int>(random >> 32 & 63) % 41);
      break;
    case 14:
      x = std::ldexp(unit - 0.5f, -static_cast<int>(random >> 32 & 127));
      break;
    case 15: {
      const float special[] = {0.0f,    -0.0f,   INFINITY, -INFINITY, NAN, static_cast<float>(size),
                               3.4e38f, -3.4e38f};
      x = special[random >> 32 & 7];
    }
  }
  return x;
}

/// The coordinate as the fetch gets it.
inline float asked_coordinate(const Mode& mode, int axis, int index) {
  const int size = axis == 0 ? mode.width : axis == 1 ? mode.height : mode.depth;
  const float x = coordinate(mode, axis, index);
  return mode.normalized ? x / static_cast<float>(size) : x;
}

template <class T>
__global__ void fetch_all(cudaTextureObject_t texture, int dimensions, bool linear_memory,
                          const float* x, const float* y, const float* z, int n, T* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (linear_memory) {
    results[i] = tex1Dfetch<T>(texture, __float2int_rd(x[i]));
  } else if (dimensions == 1) {
    results[i] = tex1D<T>(texture, x[i]);
  } else if (dimensions == 2) {
    results[i] = tex2D<T>(texture, x[i], y[i]);
  } else {
    results[i] = tex3D<T>(texture, x[i], y[i], z[i]);
  }
}

/// The memory of a texture, and the object over it.
class Texture {
 public:
  explicit Texture(const Mode& mode) {
    const auto row_components = static_cast<std::size_t>(mode.width * mode.channels);
    const std::size_t bytes = static_cast<std::size_t>(mode.bits) / 8;
    const std::size_t row = row_components * bytes;
    const auto rows = static_cast<std::size_t>(mode.height * mode.depth);
    std::vector<unsigned char> texels(row * rows);
    for (std::size_t i = 0; i < row_components * rows; ++i) {
      const std::uint32_t value = texel_bits(mode, i);
      std::memcpy(&texels[i * bytes], &value, bytes);  // little endian
    }
    const int b = mode.bits, c = mode.channels;
    const cudaChannelFormatDesc format =
        cudaCreateChannelDesc(b, c > 1 ? b : 0, c > 2 ? b : 0, c > 3 ? b : 0, mode.kind);
    cudaResourceDesc resource{};
    if (mode.memory == Memory::kLinear) {
      CUDA_CHECK(cudaMalloc(&memory_, row));
      CUDA_CHECK(cudaMemcpy(memory_, texels.data(), row, cudaMemcpyHostToDevice));
      resource.resType = cudaResourceTypeLinear;
      resource.res.linear.devPtr = memory_;
      resource.res.linear.desc = format;
      resource.res.linear.sizeInBytes = row;
    } else if (mode.memory == Memory::kPitched) {
      std::size_t pitch = 0;
      CUDA_CHECK(cudaMallocPitch(&memory_, &pitch, row, rows));
      CUDA_CHECK(
          cudaMemcpy2D(memory_, pitch, texels.data(), row, row, rows, cudaMemcpyHostToDevice));
      resource.resType = cudaResourceTypePitch2D;
      resource.res.pitch2D.devPtr = memory_;
      resource.res.pitch2D.desc = format;
      resource.res.pitch2D.width = static_cast<std::size_t>(mode.width);
      resource.res.pitch2D.height = static_cast<std::size_t>(mode.height);
      resource.res.pitch2D.pitchInBytes = pitch;
    } else if (mode.dimensions < 3) {
      CUDA_CHECK(cudaMallocArray(&array_, &format, static_cast<std::size_t>(mode.width),
                                 mode.dimensions == 1 ? 0 : rows));
      CUDA_CHECK(cudaMemcpy2DToArray(array_, 0, 0, texels.data(), row, row,
                                     mode.dimensions == 1 ? 1 : rows, cudaMemcpyHostToDevice));
    } else {
      const cudaExtent extent = make_cudaExtent(static_cast<std::size_t>(mode.width),
                                                static_cast<std::size_t>(mode.height),
                                                static_cast<std::size_t>(mode.depth));
      CUDA_CHECK(cudaMalloc3DArray(&array_, &format, extent));
      cudaMemcpy3DParms copy{};
      copy.srcPtr = make_cudaPitchedPtr(texels.data(), row, extent.width, extent.height);
      copy.dstArray = array_;
      copy.extent = extent;
      copy.kind = cudaMemcpyHostToDevice;
      CUDA_CHECK(cudaMemcpy3D(&copy));
    }
    if (array_ != nullptr) {
      resource.resType = cudaResourceTypeArray;
      resource.res.array.array = array_;
    }
    cudaTextureDesc texture{};
    for (cudaTextureAddressMode& address : texture.addressMode) address = mode.address;
    texture.filterMode = mode.filter;
    texture.readMode = mode.read;
    texture.normalizedCoords = mode.normalized;
    texture.borderColor[0] = 0.75f;
    texture.borderColor[1] = -0.25f;
    texture.borderColor[2] = 3;
    texture.borderColor[3] = 0.1f;
    CUDA_CHECK(cudaCreateTextureObject(&object_, &resource, &texture, nullptr));
  }
  ~Texture() {
    cudaDestroyTextureObject(object_);
    if (array_ != nullptr) cudaFreeArray(array_);
    cudaFree(memory_);
  }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  cudaTextureObject_t object() const { return object_; }

 private:
  void* memory_ = nullptr;
  cudaArray_t array_ = nullptr;
  cudaTextureObject_t object_ = 0;
};

/// What the fetches return, as 32-bit words; narrower results are filled up with zeros.
template <class T>
std::vector<std::uint32_t> samples_as(const Mode& mode) {
  const Texture texture(mode);
  const auto n = static_cast<std::size_t>(kFetches);
  float* d_at[3];
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<float> at(n);
    for (int i = 0; i < kFetches; ++i) {
      at[static_cast<std::size_t>(i)] = asked_coordinate(mode, axis, i);
    }
    CUDA_CHECK(cudaMalloc(&d_at[axis], n * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_at[axis], at.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  }
  T* d_results = nullptr;
  CUDA_CHECK(cudaMalloc(&d_results, n * sizeof(T)));
  fetch_all<T><<<(kFetches + 127) / 128, 128>>>(texture.object(), mode.dimensions,
                                                mode.memory == Memory::kLinear, d_at[0], d_at[1],
                                                d_at[2], kFetches, d_results);
  CUDA_CHECK_LAUNCH();
  std::vector<T> results(n);
  CUDA_CHECK(cudaMemcpy(results.data(), d_results, n * sizeof(T), cudaMemcpyDeviceToHost));
  for (float* const at : d_at) CUDA_CHECK(cudaFree(at));
  CUDA_CHECK(cudaFree(d_results));
  constexpr std::size_t kWords = (sizeof(T) + 3) / 4;
  std::vector<std::uint32_t> words(n * kWords, 0);
  for (std::size_t i = 0; i < n; ++i) std::memcpy(&words[i * kWords], &results[i], sizeof(T));
  return words;
}

template <class T1, class T2, class T4>
std::vector<std::uint32_t> samples_of(const Mode& mode) {
  return mode.channels == 1   ? samples_as<T1>(mode)
         : mode.channels == 2 ? samples_as<T2>(mode)
                              : samples_as<T4>(mode);
}

inline std::vector<std::uint32_t> samples(const Mode& mode) {
  if (mode.kind == cudaChannelFormatKindFloat || mode.read == cudaReadModeNormalizedFloat) {
    return samples_of<float, float2, float4>(mode);
  }
  const bool is_signed = mode.kind == cudaChannelFormatKindSigned;
  switch (mode.bits) {
    case 8:
      return is_signed ? samples_of<signed char, char2, char4>(mode)
                       : samples_of<unsigned char, uchar2, uchar4>(mode);
    case 16:
      return is_signed ? samples_of<short, short2, short4>(mode)
                       : samples_of<unsigned short, ushort2, ushort4>(mode);
    default:
      return is_signed ? samples_of<int, int2, int4>(mode)
                       : samples_of<unsigned, uint2, uint4>(mode);
  }
}

/// The modes that are stored: every filter, address mode, format and kind of memory, though not
/// each combination. Formats take turns in how many components a texel has.
inline std::vector<Mode> stored_modes() {
  struct Format {
    int bits;
    cudaChannelFormatKind kind;
    cudaTextureReadMode read;
  };
  constexpr auto s = cudaChannelFormatKindSigned, u = cudaChannelFormatKindUnsigned,
                 f = cudaChannelFormatKindFloat;
  constexpr auto element = cudaReadModeElementType, as_float = cudaReadModeNormalizedFloat;
  const Format formats[] = {{32, f, element}, {16, f, element},  {8, u, as_float},
                            {8, s, as_float}, {16, u, as_float}, {16, s, as_float},
                            {8, u, element},  {8, s, element},   {16, u, element},
                            {16, s, element}, {32, u, element},  {32, s, element}};
  const int channels[] = {1, 2, 4};
  std::vector<Mode> modes;
  int turn = 0;
  for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    for (const Format& format : formats) {
      const bool gives_float = format.kind == f || format.read == as_float;
      if (filter == cudaFilterModeLinear && !gives_float) continue;
      Mode mode;
      mode.filter = filter;
      mode.bits = format.bits;
      mode.kind = format.kind;
      mode.read = format.read;
      for (int i = 0; i < 8; ++i) {
        mode.address = static_cast<cudaTextureAddressMode>(i / 2);
        mode.normalized = i % 2 != 0;
        const auto add = [&](Memory memory, int dimensions, int width, int height, int depth) {
          mode.memory = memory;
          mode.dimensions = dimensions;
          mode.width = width, mode.height = height, mode.depth = depth;
          mode.channels = channels[turn++ % 3];
          modes.push_back(mode);
        };
        add(Memory::kArray, 2, 37, 23, 1);
        add(Memory::kArray, 1, 37, 1, 1);
        if (i % 3 == 0) add(Memory::kPitched, 2, 37, 23, 1);
        // Layers of 16-bit floats: not bit for bit, see texture_unit.h.
        const bool known = filter == cudaFilterModePoint || format.kind != f || format.bits == 32;
        if (i % 3 == 1 && known) add(Memory::kArray, 3, 13, 11, 7);
        if (i == 0 && filter == cudaFilterModePoint) add(Memory::kLinear, 1, 851, 1, 1);
      }
      if (format.kind != f) continue;
      // Floats of very different size, infinities, NaN and subnormals.
      mode.memory = Memory::kArray;
      mode.address = cudaAddressModeClamp;
      mode.channels = 1;
      mode.depth = 1;
      for (int i = 0; i < 8; ++i) {
        mode.texels = i % 2 == 0 ? Texels::kWideRange : Texels::kSpecial;
        mode.normalized = i / 2 % 2 != 0;
        mode.dimensions = i / 4 + 1;
        mode.width = 37;
        mode.height = mode.dimensions == 1 ? 1 : 23;
        modes.push_back(mode);
      }
    }
  }
  return modes;
}

/// 16 bits for each group of fetches, in hexadecimal, without anything between them.
inline std::string digest(const std::vector<std::uint32_t>& words) {
  const std::size_t per_group = words.size() / (kFetches / kGroup);
  std::string text;
  for (std::size_t begin = 0; begin < words.size(); begin += per_group) {
    std::uint32_t hash = 2166136261u;  // FNV-1a, by words
    for (std::size_t i = begin; i < begin + per_group; ++i) {
      hash = (hash ^ words[i]) * 16777619u;
      hash ^= hash >> 15;
    }
    char number[5];
    std::snprintf(number, sizeof(number), "%04x", hash & 0xffff);
    text += number;
  }
  return text;
}

}  // namespace texture_samples
