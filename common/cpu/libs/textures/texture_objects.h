// SPDX-License-Identifier: MIT
// The texture and surface objects of a program, and the memory of CUDA arrays. An object keeps its
// number when it is destroyed and an array its description when it is freed, so that a later use
// can be named.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../types/site.h"
#include "texture_unit.h"

namespace cuda_cpu {

/// The memory of a cudaArray_t: rows without gaps.
struct ArrayMemory {
  char* texels = nullptr;
  std::size_t row_bytes = 0;
  std::size_t width = 0, height = 0, depth = 0;  ///< in texels; 0 where the array has no such axis
  int bits[4] = {};                              ///< of each component
  int kind = 0;                                  ///< cudaChannelFormatKind
  unsigned flags = 0;
  const char* call = "";
  Site allocated{nullptr, 0}, freed{nullptr, 0};
  bool live = true;
};

enum class ObjectKind { kTexture, kSurface };
enum class ObjectMemory { kArray, kLinear, kPitched };

struct TextureObject {
  ObjectKind kind = ObjectKind::kTexture;
  ObjectMemory memory = ObjectMemory::kArray;
  TextureView view;
  const ArrayMemory* array = nullptr;
  Site created{nullptr, 0}, destroyed{nullptr, 0};
  bool live = true;
};

/// Keeps the object and returns its number, 1 or more; 0 when there is no room.
std::uint64_t add_texture_object(const TextureObject& object);

/// The object of a number, destroyed or not; null when there never was one.
TextureObject* find_texture_object(std::uint64_t number);

}  // namespace cuda_cpu
