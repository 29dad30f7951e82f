// SPDX-License-Identifier: MIT
// Reports about wrong uses of textures and surfaces. Each ends the grid.
#pragma once

#include <cstdint>

#include "fetches.h"
#include "texture_objects.h"

namespace cuda_cpu {

[[noreturn]] void stop_without_object(const TextureCall& call, std::uint64_t number);
[[noreturn]] void stop_destroyed(const TextureCall& call, const TextureObject& object);
[[noreturn]] void stop_other_kind(const TextureCall& call, const TextureObject& object);
[[noreturn]] void stop_array_freed(const TextureCall& call, const TextureObject& object);
[[noreturn]] void stop_wrong_type(const TextureCall& call, const TextureObject& object,
                                  const char* why);
[[noreturn]] void stop_wrong_function(const TextureCall& call, const TextureObject& object);
[[noreturn]] void stop_out_of_range(const TextureCall& call, const TextureObject& object,
                                    int texel);
[[noreturn]] void stop_other_dimensions(const TextureCall& call, const TextureObject& object);
[[noreturn]] void stop_misaligned(const TextureCall& call, const TextureObject& object, int x);
[[noreturn]] void stop_outside(const TextureCall& call, const TextureObject& object, int x, int y);

}  // namespace cuda_cpu
