// SPDX-License-Identifier: MIT
// What a GPU's texture unit computes, bit for bit as an H200 does: tests/backend/textures.test.cu
// compares with stored samples.
//
// - A coordinate that is subnormal or NaN is 0. A normalized one is rounded down to 1/2^21, then
//   multiplied by the number of texels. Others neither wrap nor mirror: they are clamped.
// - Point filtering takes the texel that holds the position. Linear filtering subtracts 1/2 and
//   rounds to 1/256 of a texel, ties upwards; the fraction is the weight of the upper neighbour.
//   Beyond the centre of the outermost texel, clamping takes that texel alone.
// - Weights of several axes are multiplied and rounded to 1/256, in three dimensions first those of
//   x and z, then y. A tie between x and z goes up for the upper x; with y it goes up where both
//   neighbours are upper ones or both lower ones.
// - Texels of 32-bit and 16-bit floats are aligned to the largest exponent among those with a
//   weight, with 4 bits more than their significand has; what does not fit is cut off. The sum of
//   the products is exact, and rounded once, ties away from zero. Subnormal texels count as 0.
// - In three dimensions each of the two layers has such a sum, and how they are put together is
//   known in part only: of sums of texels of very different size, about 5 in 10,000 (32-bit floats)
//   or 20 in 10,000 (16-bit) differ from the unit's in the last bits.
// - Texels of 8-bit and 16-bit integers that are read as floats are added exactly. The sum is
//   rounded to 16 bits, ties upwards, and divided by 65535 or 32767.
// - The border's colour is rounded to the texel's format first. A texture of one dimension is one
//   of two with a single row, read at y = 0: with linear filtering and a border as the second
//   address mode, half of the result is the border's.
#pragma once

#include <cstddef>

#include "../../types/texture_types.h"
#include "array_types.h"
#include "texels_read.h"

namespace cuda_cpu {

/// The texels of a texture or surface, and how they are read.
struct TextureView {
  const char* texels = nullptr;
  std::size_t pitch = 0, slice = 0;  ///< bytes from row to row, from layer to layer
  int size[3] = {1, 1, 1};
  int dimensions = 1;
  int texel_bytes = 0;
  int component_bytes = 0;
  int components = 0;
  cudaChannelFormatKind kind = cudaChannelFormatKindFloat;
  bool as_float = false;  ///< integers are read as floats between 0 or -1 and 1
  bool linear = false;
  bool normalized = false;
  cudaTextureAddressMode address[3] = {cudaAddressModeClamp, cudaAddressModeClamp,
                                       cudaAddressModeClamp};
  float border[4] = {};
};

/// Reads a texture at a position. Components that the texture lacks are 0.
TexelsRead sample(const TextureView& view, const float position[3]);

/// The texel of a number, without filter; it must be there.
TexelsRead load_texel(const TextureView& view, int number);

/// One component of the four texels that linear filtering would use, counter-clockwise from the
/// lower left.
TexelsRead gather(const TextureView& view, const float position[2], int component);

}  // namespace cuda_cpu
