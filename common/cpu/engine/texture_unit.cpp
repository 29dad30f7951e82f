// SPDX-License-Identifier: MIT
#include "texture_unit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace cuda_cpu {
namespace {

constexpr int kNormalizedBits = 21;  // of the fraction of a normalized coordinate
constexpr int kFractionBits = 8;     // of the weight of a neighbour
constexpr std::int64_t kFar = std::int64_t{1} << 40;
constexpr int kOutside = -1;  // in place of a texel: the border's colour

template <class To, class From>
To bits_of(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

/// The texels along one axis that a fetch uses, and the weight of the second in 1/256.
struct Neighbours {
  int first, second, weight;
};

std::int64_t floor_modulo(std::int64_t value, std::int64_t modulus) {
  const std::int64_t rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

/// A coordinate times 2^`bits`, rounded down, within the range of int64.
std::int64_t fixed_point(float coordinate, int bits) {
  if (!std::isnormal(coordinate) && !std::isinf(coordinate)) return 0;  // zero, subnormal, NaN
  const double scaled = std::floor(std::ldexp(static_cast<double>(coordinate), bits));
  const auto far = static_cast<double>(kFar);
  return static_cast<std::int64_t>(std::min(std::max(scaled, -far), far));
}

int texel_at(std::int64_t index, int size, AddressMode mode) {
  if (index >= 0 && index < size) return static_cast<int>(index);
  switch (mode) {
    case AddressMode::kWrap:
      return static_cast<int>(floor_modulo(index, size));
    case AddressMode::kMirror: {
      const std::int64_t turn = floor_modulo(index, 2 * std::int64_t{size});
      return static_cast<int>(turn < size ? turn : 2 * std::int64_t{size} - 1 - turn);
    }
    case AddressMode::kBorder:
      return kOutside;
    case AddressMode::kClamp:
      break;
  }
  return index < 0 ? 0 : size - 1;
}

Neighbours neighbours(float coordinate, int size, AddressMode mode, bool normalized, bool linear) {
  // In texels, with `bits` of fraction.
  int bits = kFractionBits + 1;
  std::int64_t position;
  if (normalized) {
    bits = kNormalizedBits;
    position = fixed_point(coordinate, bits);
    const std::int64_t one = std::int64_t{1} << bits;
    if (mode == AddressMode::kWrap) {
      position = floor_modulo(position, one);
    } else if (mode == AddressMode::kMirror) {
      position = floor_modulo(position, 2 * one);
      if (position >= one) position = 2 * one - 1 - position;
    }
    position *= size;
  } else {
    position = fixed_point(coordinate, bits);
    // Wrapping and mirroring need normalized coordinates.
    if (mode != AddressMode::kBorder) mode = AddressMode::kClamp;
  }
  if (!linear) return {texel_at(position >> bits, size, mode), 0, 0};
  const int drop = bits - kFractionBits;
  const std::int64_t rounded = (position + (std::int64_t{1} << (drop - 1))) >> drop;
  const std::int64_t from = rounded - (1 << (kFractionBits - 1));
  const std::int64_t lower = from >> kFractionBits;
  return {texel_at(lower, size, mode), texel_at(lower + 1, size, mode),
          static_cast<int>(from & ((1 << kFractionBits) - 1))};
}

const char* address_of(const TextureView& view, int x, int y, int z) {
  return view.texels + static_cast<std::size_t>(z) * view.slice +
         static_cast<std::size_t>(y) * view.pitch +
         static_cast<std::size_t>(x) * static_cast<std::size_t>(view.texel_bytes);
}

/// A component's bits, integers with their sign.
std::uint32_t raw_component(const TextureView& view, const char* texel, int component) {
  const char* const from = texel + component * view.component_bytes;
  const bool is_signed = view.kind == TexelKind::kSigned;
  if (view.component_bytes == 1) {
    std::uint8_t value;
    std::memcpy(&value, from, 1);
    return is_signed ? static_cast<std::uint32_t>(static_cast<std::int8_t>(value)) : value;
  }
  if (view.component_bytes == 2) {
    std::uint16_t value;
    std::memcpy(&value, from, 2);
    return is_signed ? static_cast<std::uint32_t>(static_cast<std::int16_t>(value)) : value;
  }
  std::uint32_t value;
  std::memcpy(&value, from, 4);
  return value;
}

float half_to_float(std::uint32_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = half >> 10 & 31, significand = half & 1023;
  if (exponent == 31) return bits_of<float>(sign | 0x7f800000u | significand << 13);
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(significand), -24);
    return sign != 0 ? -value : value;
  }
  return bits_of<float>(sign | (exponent + 112) << 23 | significand << 13);
}

/// An integer component as a float between 0 or -1 and 1.
float as_fraction(const TextureView& view, std::uint32_t raw) {
  if (view.kind == TexelKind::kUnsigned) {
    return static_cast<float>(raw) / (view.component_bytes == 1 ? 255.0f : 65535.0f);
  }
  const float value = static_cast<float>(static_cast<std::int32_t>(raw)) /
                      (view.component_bytes == 1 ? 127.0f : 32767.0f);
  return std::max(value, -1.0f);
}

/// The bits of the border's colour in the texture's format.
std::uint32_t border_bits(const TextureView& view, int component) {
  const float colour = view.border[component];
  if (view.kind == TexelKind::kFloat) return bits_of<std::uint32_t>(colour);
  if (view.component_bytes == 4 || !view.as_float) return bits_of<std::uint32_t>(colour);
  return bits_of<std::uint32_t>(colour);
}

/// What a fetch returns for a component that is not filtered.
std::uint32_t plain_component(const TextureView& view, std::uint32_t raw) {
  if (view.kind == TexelKind::kFloat) {
    return view.component_bytes == 2 ? bits_of<std::uint32_t>(half_to_float(raw)) : raw;
  }
  return view.as_float ? bits_of<std::uint32_t>(as_fraction(view, raw)) : raw;
}

/// A texel of the footprint: where it is, null for the border's colour, and its weight in 1/256.
struct Weighted {
  const char* texel;
  int weight;
};

/// The sum of floats with weights in 1/256, as the unit computes it. `precision`: bits of a texel's
/// significand, of the result as well.
float weighted_sum(const float* values, const int* weights, int count, int precision) {
  constexpr int kGuardBits = 4;
  int exponent = std::numeric_limits<int>::min();
  float special = 0;
  bool has_special = false;
  for (int i = 0; i < count; ++i) {
    if (weights[i] == 0) continue;
    if (!std::isfinite(values[i])) {
      special = has_special ? special + values[i] : values[i];
      has_special = true;
    } else if (values[i] != 0) {
      exponent = std::max(exponent, std::ilogb(values[i]));
    }
  }
  if (has_special) return special;
  if (exponent == std::numeric_limits<int>::min()) return 0;
  const int unit = exponent - (precision - 1) - kGuardBits;
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    if (weights[i] == 0 || values[i] == 0) continue;
    const double aligned = std::trunc(std::ldexp(static_cast<double>(values[i]), -unit));
    sum += static_cast<std::int64_t>(aligned) * weights[i];
  }
  if (sum == 0) return 0;
  // Rounded to `precision` bits, ties away from zero.
  const auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  const int length = 64 - __builtin_clzll(magnitude);
  const int lowest = precision == 11 ? -24 : -149;  // of a subnormal result
  const int drop = std::max({length - precision, lowest - (unit - kFractionBits), 0});
  const std::uint64_t rounded =
      drop == 0 ? magnitude : (magnitude + (std::uint64_t{1} << (drop - 1))) >> drop;
  const double value = std::ldexp(static_cast<double>(rounded), drop + unit - kFractionBits);
  return static_cast<float>(sum < 0 ? -value : value);
}

/// An integer component as the 16-bit fixed-point number that the unit adds up.
std::int64_t as_fixed(const TextureView& view, std::uint32_t raw) {
  const auto value = static_cast<std::int32_t>(raw);
  if (view.component_bytes == 2) return value;
  if (view.kind == TexelKind::kUnsigned) return value * 257;
  return value;
}

float weighted_fraction(const TextureView& view, const std::uint32_t* raw, const int* weights,
                        int count) {
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += as_fixed(view, raw[i]) * weights[i];
  if (view.kind == TexelKind::kUnsigned) return static_cast<float>((sum + 128) >> 8) / 65535.0f;
  std::int64_t fixed = (sum + 128) >> 8;
  if (view.component_bytes == 1) {  // the sum of 8-bit numbers is stretched to 16 bits
    fixed = sum + ((sum + 64) >> 7) + sum / 16384;
  }
  return static_cast<float>(std::max<std::int64_t>(fixed, -32767)) / 32767.0f;
}

void note(TexelsRead* read, const char* texel) {
  if (texel != nullptr) read->address[read->count++] = texel;
}

/// The footprint of a fetch: up to eight texels.
int footprint(const TextureView& view, const float* position, Weighted* texels) {
  Neighbours axis[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (int i = 0; i < view.dimensions; ++i) {
    axis[i] = neighbours(position[i], view.size[i], view.address[i], view.normalized, view.linear);
  }
  const auto texel = [&](int x, int y, int z) {
    const bool outside = x == kOutside || y == kOutside || z == kOutside;
    return outside ? nullptr : address_of(view, x, y, z);
  };
  if (!view.linear) {
    texels[0] = {texel(axis[0].first, axis[1].first, axis[2].first), 256};
    return 1;
  }
  const int a = axis[0].weight, b = axis[1].weight, c = axis[2].weight;
  const int both = (a * b + 128) >> 8;
  const int flat[4] = {256 - a - b + both, a - both, b - both, both};
  int count = 0;
  for (int z = 0; z < (view.dimensions == 3 ? 2 : 1); ++z) {
    for (int i = 0; i < 4; ++i) {
      const int upper = (flat[i] * c + 128) >> 8;
      const int weight = z == 1 ? upper : flat[i] - upper;
      if (weight == 0) continue;
      texels[count++] = {texel((i & 1) != 0 ? axis[0].second : axis[0].first,
                               (i & 2) != 0 ? axis[1].second : axis[1].first,
                               z != 0 ? axis[2].second : axis[2].first),
                         weight};
    }
  }
  return count;
}

}  // namespace

void sample(const TextureView& view, const float position[3], std::uint32_t result[4],
            TexelsRead* read) {
  read->bytes = view.texel_bytes;
  Weighted texels[8];
  const int count = footprint(view, position, texels);
  for (int i = 0; i < count; ++i) note(read, texels[i].texel);
  for (int component = 0; component < 4; ++component) {
    if (component >= view.components) {
      result[component] = 0;
      continue;
    }
    if (!view.linear) {
      result[component] =
          texels[0].texel == nullptr
              ? border_bits(view, component)
              : plain_component(view, raw_component(view, texels[0].texel, component));
      continue;
    }
    int weights[8];
    if (view.kind == TexelKind::kFloat) {
      float values[8];
      for (int i = 0; i < count; ++i) {
        weights[i] = texels[i].weight;
        if (texels[i].texel == nullptr) {
          values[i] = bits_of<float>(border_bits(view, component));
        } else {
          const std::uint32_t raw = raw_component(view, texels[i].texel, component);
          values[i] = view.component_bytes == 2 ? half_to_float(raw) : bits_of<float>(raw);
        }
      }
      result[component] = bits_of<std::uint32_t>(
          weighted_sum(values, weights, count, view.component_bytes == 2 ? 11 : 24));
    } else {
      std::uint32_t raw[8];
      for (int i = 0; i < count; ++i) {
        weights[i] = texels[i].weight;
        raw[i] = texels[i].texel == nullptr ? border_bits(view, component)
                                            : raw_component(view, texels[i].texel, component);
      }
      result[component] = bits_of<std::uint32_t>(weighted_fraction(view, raw, weights, count));
    }
  }
}

void load_texel(const TextureView& view, int number, std::uint32_t result[4], TexelsRead* read) {
  read->bytes = view.texel_bytes;
  const char* const texel = address_of(view, number, 0, 0);
  note(read, texel);
  for (int i = 0; i < 4; ++i) {
    result[i] = i < view.components ? plain_component(view, raw_component(view, texel, i)) : 0;
  }
}

void gather(const TextureView& view, const float position[2], int component,
            std::uint32_t result[4], TexelsRead* read) {
  read->bytes = view.texel_bytes;
  const Neighbours x =
      neighbours(position[0], view.size[0], view.address[0], view.normalized, true);
  const Neighbours y =
      neighbours(position[1], view.size[1], view.address[1], view.normalized, true);
  const int at[4][2] = {
      {x.first, y.second}, {x.second, y.second}, {x.second, y.first}, {x.first, y.first}};
  for (int i = 0; i < 4; ++i) {
    result[i] = 0;
    if (component >= view.components) continue;
    if (at[i][0] == kOutside || at[i][1] == kOutside) {
      result[i] = border_bits(view, component);
      continue;
    }
    const char* const texel = address_of(view, at[i][0], at[i][1], 0);
    note(read, texel);
    result[i] = plain_component(view, raw_component(view, texel, component));
  }
}

}  // namespace cuda_cpu
