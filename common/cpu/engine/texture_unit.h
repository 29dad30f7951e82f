// SPDX-License-Identifier: MIT
// What a GPU's texture unit computes, bit for bit as an H200 does: tests/backend/textures.test.cu
// compares with stored samples.
//
// - A coordinate that is subnormal or NaN is 0. A normalized one is rounded down to 1/2^21, and
//   then multiplied by the number of texels.
// - Point filtering takes the texel that holds the position. Linear filtering subtracts 1/2 and
//   rounds to 1/256 of a texel, ties upwards; the fraction a is the weight of the upper neighbour.
// - In two dimensions the weights are, in units of 1/256 and for fractions a and b:
//   w11 = round(a b / 256), w10 = a - w11, w01 = b - w11, w00 = 256 - a - b + w11.
// - Texels of 32-bit and 16-bit floats are aligned to the largest exponent among those with a
//   weight, with 4 bits more than their significand has; what does not fit is cut off. The sum of
//   the products is exact, and rounded once, ties away from zero.
// - Texels of 8-bit and 16-bit integers that are read as floats become 16-bit fixed-point numbers.
//   The sum is rounded to such a number, ties upwards, and divided by 65535 or 32767.
#pragma once

#include <cstddef>
#include <cstdint>

#include "textures.h"

namespace cuda_cpu {

enum class TexelKind : std::uint8_t { kUnsigned, kSigned, kFloat };
enum class AddressMode : std::uint8_t { kWrap, kClamp, kMirror, kBorder };

/// The texels of a texture or surface, and how they are read.
struct TextureView {
  const char* texels = nullptr;
  std::size_t pitch = 0, slice = 0;  ///< bytes from row to row, from layer to layer
  int size[3] = {1, 1, 1};
  int dimensions = 1;
  int texel_bytes = 0;
  int component_bytes = 0;
  int components = 0;
  TexelKind kind = TexelKind::kFloat;
  bool as_float = false;  ///< integers are read as floats between 0 or -1 and 1
  bool linear = false;
  bool normalized = false;
  AddressMode address[3] = {AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp};
  float border[4] = {};
};

/// Reads a texture at a position. A result is four words, floats or integers by their bits;
/// components that the texture lacks are 0.
void sample(const TextureView& view, const float position[3], std::uint32_t result[4],
            TexelsRead* read);

/// The texel of a number, without filter; it must be there.
void load_texel(const TextureView& view, int number, std::uint32_t result[4], TexelsRead* read);

/// One component of the four texels that linear filtering would use, counter-clockwise from the
/// lower left.
void gather(const TextureView& view, const float position[2], int component,
            std::uint32_t result[4], TexelsRead* read);

}  // namespace cuda_cpu
