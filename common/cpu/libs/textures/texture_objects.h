// SPDX-License-Identifier: MIT
// The texture and surface objects of a program, and the memory of CUDA arrays. An object keeps its
// number when it is destroyed and an array its description when it is freed, so that a later use
// can be named.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../../types/site.h"
#include "../../types/texture_types.h"
#include "arrays.h"
#include "texture_unit.h"

/// The memory of a cudaArray_t: rows without gaps.
struct cudaArray {
  cudaChannelFormatDesc format;
  cudaExtent extent;  ///< in texels; 0 where the array has no such axis
  unsigned flags;
  std::size_t row_bytes;
  char* texels;
  const char* call;
  cuda_cpu::Site allocated, freed{nullptr, 0};
  bool live = true;

  std::size_t rows() const { return std::max<std::size_t>(extent.height, 1); }
  std::size_t layers() const { return std::max<std::size_t>(extent.depth, 1); }
};

namespace cuda_cpu {

enum class ObjectKind { kTexture, kSurface };

struct TextureObject {
  ObjectKind kind = ObjectKind::kTexture;
  Site created{nullptr, 0};
  // What it was made from.
  cudaResourceDesc resource{};
  cudaTextureDesc description{};
  cudaResourceViewDesc resource_view{};
  TextureView view{};
  Site destroyed{nullptr, 0};
  bool live = true;
};

/// Keeps the object and returns its number, 1 or more; 0 when there is no room.
std::uint64_t add_texture_object(const TextureObject& object);

/// The object of a number, destroyed or not; null when there never was one.
TextureObject* find_texture_object(std::uint64_t number);

}  // namespace cuda_cpu
