// SPDX-License-Identifier: MIT
// The texture and surface objects of a program. An object keeps its number when it is destroyed, so
// that a later use can be named.
#pragma once

#include <cstdint>

#include "../../types/site.h"
#include "../../types/texture_types.h"
#include "array_memory.h"
#include "texture_unit.h"

namespace cuda_cpu {

enum class ObjectKind { kTexture, kSurface };

struct TextureObject {
  ObjectKind kind = ObjectKind::kTexture;
  Site created{nullptr, 0};
  // What it was made from.
  cudaResourceDesc resource{};
  cudaTextureDesc description{};
  TextureView view{};
  Site destroyed{nullptr, 0};
  bool live = true;
};

/// Keeps the object and returns its number, 1 or more; 0 when there is no room.
std::uint64_t add_texture_object(const TextureObject& object);

/// The object of a number, destroyed or not; null when there never was one.
TextureObject* find_texture_object(std::uint64_t number);

}  // namespace cuda_cpu
