// SPDX-License-Identifier: MIT
#include "texture_unit.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "../../engine/arithmetic/device_functions.h"
#include "../../engine/arithmetic/short_floats.h"

namespace cuda_cpu {
namespace {

constexpr int kNormalizedBits = 21;  // of the fraction of a normalized coordinate
constexpr int kFractionBits = 8;     // of the weight of a neighbour
constexpr int kFullWeight = 1 << kFractionBits;
constexpr double kFarthest = 0x1p60;
constexpr std::int64_t kFar = std::int64_t{1} << 42;  // outside of every texture
constexpr int kOutside = -1;                          // in place of a texel: the border's colour

bool is_negative(float value) { return bit_copy<std::uint32_t>(value) >> 31 != 0; }
/// A zero or subnormal number.
bool is_tiny(float value) { return (bit_copy<std::uint32_t>(value) & 0x7f800000u) == 0; }
/// The e of 2^e <= |value| < 2^(e + 1); the value is normal.
int exponent_of(float value) {
  return static_cast<int>(bit_copy<std::uint32_t>(value) >> 23 & 255) - 127;
}
double power_of_two(int exponent) {
  return bit_copy<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// The texels along one axis that a fetch uses, and the weight of the second in 1/256.
struct Neighbours {
  int first, second, weight;
};

std::int64_t floor_modulo(std::int64_t value, std::int64_t modulus) {
  const std::int64_t rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

/// A coordinate times 2^`bits`, rounded down, and within +-2^60.
std::int64_t fixed_point(float coordinate, int bits) {
  if (is_tiny(coordinate) || std::isnan(coordinate)) return 0;
  const double scaled = static_cast<double>(coordinate) * power_of_two(bits);
  const double bounded = std::min(std::max(scaled, -kFarthest), kFarthest);
  const auto towards_zero = static_cast<std::int64_t>(bounded);
  return towards_zero - (static_cast<double>(towards_zero) > bounded ? 1 : 0);
}

int texel_at(std::int64_t index, int size, cudaTextureAddressMode mode) {
  if (index >= 0 && index < size) return static_cast<int>(index);
  switch (mode) {
    case cudaAddressModeWrap:
      return static_cast<int>(floor_modulo(index, size));
    case cudaAddressModeMirror: {
      const std::int64_t turn = floor_modulo(index, 2 * std::int64_t{size});
      return static_cast<int>(turn < size ? turn : 2 * std::int64_t{size} - 1 - turn);
    }
    case cudaAddressModeBorder:
      return kOutside;
    case cudaAddressModeClamp:
      break;
  }
  return index < 0 ? 0 : size - 1;
}

Neighbours neighbours(float coordinate, int size, cudaTextureAddressMode mode, bool normalized,
                      bool linear) {
  // In texels, with `bits` of fraction.
  int bits = kFractionBits + 1;
  std::int64_t position;
  if (normalized) {
    bits = kNormalizedBits;
    position = fixed_point(coordinate, bits);
    const std::int64_t one = std::int64_t{1} << bits;
    if (mode == cudaAddressModeWrap) {
      position = floor_modulo(position, one) * size;
    } else if (mode == cudaAddressModeMirror) {
      position = floor_modulo(position, 2 * one) * size;  // texel_at turns the second half around
    } else {
      position = std::min(std::max(position, -kFar), kFar) * size;
    }
  } else {
    position = fixed_point(coordinate, bits);
    // Wrapping and mirroring need normalized coordinates.
    if (mode != cudaAddressModeBorder) mode = cudaAddressModeClamp;
  }
  if (!linear) return {texel_at(position >> bits, size, mode), 0, 0};
  const int drop = bits - kFractionBits;
  const std::int64_t rounded = (position + (std::int64_t{1} << (drop - 1))) >> drop;
  const std::int64_t from = rounded - (1 << (kFractionBits - 1));
  const std::int64_t lower = from >> kFractionBits;
  if (mode == cudaAddressModeClamp && (lower < 0 || lower >= size - 1)) {
    const int last = lower < 0 ? 0 : size - 1;
    return {last, last, 0};
  }
  return {texel_at(lower, size, mode), texel_at(lower + 1, size, mode),
          static_cast<int>(from & ((1 << kFractionBits) - 1))};
}

/// Null outside, where the border's colour is.
const char* address_of(const TextureView& view, int x, int y, int z) {
  if (x == kOutside || y == kOutside || z == kOutside) return nullptr;
  return view.texels + static_cast<std::size_t>(z) * view.slice +
         static_cast<std::size_t>(y) * view.pitch +
         static_cast<std::size_t>(x) * static_cast<std::size_t>(view.texel_bytes);
}

template <class T>
std::uint32_t read_as(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return static_cast<std::uint32_t>(value);
}

/// A component's bits, integers with their sign.
std::uint32_t raw_component(const TextureView& view, const char* texel, int component) {
  const char* const from = texel + component * view.component_bytes;
  const bool is_signed = view.kind == cudaChannelFormatKindSigned;
  if (view.component_bytes == 4) return read_as<std::uint32_t>(from);
  if (view.component_bytes == 2) {
    return is_signed ? read_as<std::int16_t>(from) : read_as<std::uint16_t>(from);
  }
  return is_signed ? read_as<std::int8_t>(from) : read_as<std::uint8_t>(from);
}

/// A component of 16 or 32 bits of a texture of floats.
float float_of(const TextureView& view, std::uint32_t raw) {
  return view.component_bytes == 2 ? HalfFormat::value(static_cast<std::uint16_t>(raw))
                                   : bit_copy<float>(raw);
}

/// The component that stands for 1.
int largest_component(const TextureView& view) {
  const int largest = view.component_bytes == 1 ? 255 : 65535;
  return view.kind == cudaChannelFormatKindSigned ? largest / 2 : largest;
}

/// An integer component as a float between 0 or -1 and 1.
float as_fraction(const TextureView& view, std::uint32_t raw) {
  const float value = static_cast<float>(static_cast<std::int32_t>(raw)) /
                      static_cast<float>(largest_component(view));
  return std::max(value, -1.0f);
}

/// The border's colour as a component of a texel.
std::uint32_t border_component(const TextureView& view, int component) {
  const float colour = view.border[component];
  const std::uint32_t bits = bit_copy<std::uint32_t>(colour);
  const bool is_signed = view.kind == cudaChannelFormatKindSigned;
  if (view.kind == cudaChannelFormatKindFloat)
    return view.component_bytes == 2 ? HalfFormat::round(colour) : bits;
  if (!view.as_float) {  // the low bits, whatever they mean
    if (view.component_bytes == 4) return bits;
    const int shift = 32 - 8 * view.component_bytes;
    if (!is_signed) return bits << shift >> shift;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(bits << shift) >> shift);
  }
  if (std::isnan(colour)) return 0;
  const float bounded = std::min(std::max(colour, is_signed ? -1.0f : 0.0f), 1.0f);
  const float scaled = bounded * static_cast<float>(largest_component(view));
  // To the nearest, ties towards zero.
  auto rounded = static_cast<std::int32_t>(scaled);
  const float rest = scaled - static_cast<float>(rounded);
  if (rest > 0.5f) ++rounded;
  if (rest < -0.5f) --rounded;
  return static_cast<std::uint32_t>(rounded);
}

std::uint32_t component_of(const TextureView& view, const char* texel, int component) {
  return texel == nullptr ? border_component(view, component)
                          : raw_component(view, texel, component);
}

/// What a fetch returns for a component that is not filtered.
std::uint32_t plain_component(const TextureView& view, std::uint32_t raw) {
  if (view.kind == cudaChannelFormatKindFloat) return bit_copy<std::uint32_t>(float_of(view, raw));
  return view.as_float ? bit_copy<std::uint32_t>(as_fraction(view, raw)) : raw;
}

/// A texel of the footprint: where it is, null for the border's colour, and its weight in 1/256.
struct Weighted {
  const char* texel;
  int weight;
};

/// The texels that a fetch uses; the first ones are of the lower layer.
struct Footprint {
  Weighted texels[8];
  int count = 0, first_layer = 0;
};

constexpr int kNone = -100000;

/// sum * 2^unit; a unit of kNone: nothing was added.
struct ExactSum {
  std::int64_t sum = 0;
  int unit = kNone;
};

/// The sum of the finite texels of one layer, cut off below the guard bits of the largest.
ExactSum layer_sum(const float* values, const Weighted* texels, int count, int precision) {
  constexpr int kGuardBits = 4;
  int exponent = kNone;
  for (int i = 0; i < count; ++i) {
    if (values[i] != 0 && texels[i].weight != 0) {
      exponent = std::max(exponent, exponent_of(values[i]));
    }
  }
  if (exponent == kNone) return {};
  const int unit = exponent - (precision - 1) - kGuardBits;
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    if (values[i] == 0 || texels[i].weight == 0) continue;
    const std::int64_t significand = (bit_copy<std::uint32_t>(values[i]) & 0x7fffffu) | 0x800000u;
    const int shift = exponent_of(values[i]) - 23 - unit;
    const std::int64_t aligned =
        shift >= 0 ? significand << shift : significand >> std::min(-shift, 63);
    sum += (is_negative(values[i]) ? -aligned : aligned) * texels[i].weight;
  }
  return {sum, unit - kFractionBits};
}

/// Two layers are aligned to the larger of their units, with two bits more.
ExactSum sum_of_layers(const ExactSum& a, const ExactSum& b) {
  if (a.unit == kNone) return b;
  if (b.unit == kNone) return a;
  const int unit = std::max(a.unit, b.unit) - 2;
  const auto aligned = [unit](const ExactSum& s) {
    const int drop = unit - s.unit;
    return drop <= 0 ? s.sum * (1 << -drop) : s.sum >> std::min(drop, 63);
  };
  return {aligned(a) + aligned(b), unit};
}

/// The sum of floats. `precision`: bits of a texel's significand, and of the result's.
float sum_of_floats(const float* values, const Footprint& footprint, int precision) {
  float special = 0;  // the sum of those that are infinite or NaN
  bool all_negative = true;
  for (int i = 0; i < footprint.count; ++i) {
    all_negative = all_negative && is_negative(values[i]);
    if (std::isinf(values[i]) || std::isnan(values[i])) special += values[i];
  }
  if (std::isinf(special)) return special;
  if (std::isnan(special)) return bit_copy<float>(precision == 11 ? 0x7fffe000u : 0x7fffffffu);
  const int first = footprint.first_layer;
  const ExactSum exact = sum_of_layers(
      layer_sum(values, footprint.texels, first, precision),
      layer_sum(values + first, footprint.texels + first, footprint.count - first, precision));
  if (exact.sum == 0) return all_negative ? -0.0f : 0.0f;
  const auto magnitude = static_cast<std::uint64_t>(exact.sum < 0 ? -exact.sum : exact.sum);
  const int length = 64 - __builtin_clzll(magnitude);
  const int lowest = precision == 11 ? -24 : -149;  // the exponent of the smallest subnormal
  const int drop = std::max(std::max(length - precision, lowest - exact.unit), 0);
  const std::uint64_t rounded =
      drop == 0 ? magnitude : (magnitude + (std::uint64_t{1} << (drop - 1))) >> drop;
  const double value = static_cast<double>(rounded) * power_of_two(drop + exact.unit);
  return static_cast<float>(exact.sum < 0 ? -value : value);
}

/// The sum of integers as a float between 0 or -1 and 1.
float sum_of_fractions(const TextureView& view, const std::uint32_t* raw,
                       const Footprint& footprint) {
  const bool is_signed = view.kind == cudaChannelFormatKindSigned;
  std::int64_t sum = 0;
  for (int i = 0; i < footprint.count; ++i) {
    const std::int64_t value = static_cast<std::int32_t>(raw[i]);
    sum += value * footprint.texels[i].weight;
  }
  std::int64_t fixed;
  if (view.component_bytes == 2) {
    fixed = (sum + 128) >> 8;
  } else if (!is_signed) {
    fixed = (sum * 257 + 128) >> 8;
  } else {
    fixed = (8 * sum + (sum >> 4) + (sum >> 12) + 4) >> 3;  // stretched from 8 bits to 16
  }
  return is_signed ? static_cast<float>(std::max<std::int64_t>(fixed, -32767)) / 32767.0f
                   : static_cast<float>(fixed) / 65535.0f;
}

float weighted_sum(const TextureView& view, const std::uint32_t* raw, const Footprint& footprint) {
  if (view.kind != cudaChannelFormatKindFloat) return sum_of_fractions(view, raw, footprint);
  float values[8];
  for (int i = 0; i < footprint.count; ++i) {
    values[i] = float_of(view, raw[i]);
    if (is_tiny(values[i])) values[i] = is_negative(values[i]) ? -0.0f : 0.0f;
  }
  return sum_of_floats(values, footprint, view.component_bytes == 2 ? 11 : 24);
}

void note(TexelsRead* read, const char* texel) {
  if (texel != nullptr) read->address[read->count++] = texel;
}

Footprint footprint_of(const TextureView& view, const float* position) {
  Footprint result;
  Neighbours axis[3] = {};
  // A texture of one dimension is one of two with a single row, read at 0: halfway to the row
  // above.
  for (int i = 0; i < std::max(view.dimensions, 2); ++i) {
    axis[i] = neighbours(i < view.dimensions ? position[i] : 0, view.size[i], view.address[i],
                         view.normalized, view.linear);
  }
  if (!view.linear) {
    result.texels[result.count++] = {address_of(view, axis[0].first, axis[1].first, axis[2].first),
                                     kFullWeight};
    result.first_layer = 1;
    return result;
  }
  // Each product of weights is rounded; where a tie goes depends on which neighbours they are of.
  const int layers = view.dimensions == 3 ? 2 : 1;
  for (int corner = 0; corner < 4 * layers; ++corner) {
    const int x = corner & 1, y = corner >> 1 & 1, z = corner >> 2;
    const auto weight_of = [&](int i, int upper) {
      return upper != 0 ? axis[i].weight : kFullWeight - axis[i].weight;
    };
    const int across = layers == 1 ? weight_of(0, x) * kFullWeight
                                   : weight_of(0, x) * weight_of(2, z) + (x != 0 ? 128 : 127);
    const int weight =
        ((across >> kFractionBits) * weight_of(1, y) + (x == y ? 128 : 127)) >> kFractionBits;
    // A weight that is rounded to 0 still lets infinities and NaN through.
    if (weight_of(0, x) == 0 || weight_of(1, y) == 0 || weight_of(2, z) == 0) continue;
    result.texels[result.count++] = {address_of(view, x != 0 ? axis[0].second : axis[0].first,
                                                y != 0 ? axis[1].second : axis[1].first,
                                                z != 0 ? axis[2].second : axis[2].first),
                                     weight};
    if (z == 0) result.first_layer = result.count;
  }
  return result;
}

}  // namespace

TexelsRead sample(const TextureView& view, const float position[3]) {
  TexelsRead read;
  read.bytes = view.texel_bytes;
  const Footprint footprint = footprint_of(view, position);
  for (int i = 0; i < footprint.count; ++i) note(&read, footprint.texels[i].texel);
  for (int component = 0; component < view.components; ++component) {
    std::uint32_t raw[8];
    for (int i = 0; i < footprint.count; ++i) {
      raw[i] = component_of(view, footprint.texels[i].texel, component);
    }
    read.words[component] = view.linear
                                ? bit_copy<std::uint32_t>(weighted_sum(view, raw, footprint))
                                : plain_component(view, raw[0]);
  }
  return read;
}

TexelsRead load_texel(const TextureView& view, int number) {
  TexelsRead read;
  read.bytes = view.texel_bytes;
  const char* const texel = address_of(view, number, 0, 0);
  note(&read, texel);
  for (int i = 0; i < view.components; ++i) {
    read.words[i] = plain_component(view, raw_component(view, texel, i));
  }
  return read;
}

TexelsRead gather(const TextureView& view, const float position[2], int component) {
  TexelsRead read;
  read.bytes = view.texel_bytes;
  const Neighbours x =
      neighbours(position[0], view.size[0], view.address[0], view.normalized, true);
  const Neighbours y =
      neighbours(position[1], view.size[1], view.address[1], view.normalized, true);
  const int at[4][2] = {
      {x.first, y.second}, {x.second, y.second}, {x.second, y.first}, {x.first, y.first}};
  for (int i = 0; i < 4 && component < view.components; ++i) {
    const char* const texel = address_of(view, at[i][0], at[i][1], 0);
    note(&read, texel);
    read.words[i] = plain_component(view, component_of(view, texel, component));
  }
  return read;
}

}  // namespace cuda_cpu
