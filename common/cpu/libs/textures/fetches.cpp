// SPDX-License-Identifier: MIT
#include "fetches.h"

#include "texture_misuse.h"
#include "texture_objects.h"
#include "texture_unit.h"

namespace cuda_cpu {
namespace {

/// The object that a call names, if it may be used in this way.
const TextureObject& object_of(const TextureCall& call, std::uint64_t number) {
  const TextureObject* const object = find_texture_object(number);
  if (object == nullptr) stop_without_object(call, number);
  if (!object->live) stop_destroyed(call, *object);
  const bool wants_texture = call.function[0] == 't';
  if (wants_texture != (object->kind == ObjectKind::kTexture)) stop_other_kind(call, *object);
  if (object->array != nullptr && !object->array->live) stop_array_freed(call, *object);
  return *object;
}

/// Stops the kernel when the type that the program names cannot hold what the texture returns.
void check_type(const TextureCall& call, const TextureObject& object, int components) {
  const TextureView& view = object.view;
  const bool gives_floats = view.kind == TexelKind::kFloat || view.as_float;
  if (gives_floats != call.is_float) {
    stop_wrong_type(call, object,
                    gives_floats ? "the texture returns floats, the program reads integers"
                                 : "the texture returns integers, the program reads floats");
  }
  if (components > view.components) {
    stop_wrong_type(call, object, "the program reads more components than a texel has");
  }
  if (!gives_floats && call.component_bytes < view.component_bytes) {
    stop_wrong_type(call, object, "a component does not fit into the type that the program names");
  }
}

void check_function(const TextureCall& call, const TextureObject& object) {
  if (object.memory == ObjectMemory::kLinear || object.view.dimensions != call.dimensions) {
    stop_wrong_function(call, object);
  }
}

int clamped(int value, int last) { return value < 0 ? 0 : value > last ? last : value; }

}  // namespace

void fetch_texel(const TextureCall& call, cudaTextureObject_t texture, int x,
                 std::uint32_t result[4], TexelsRead* read) {
  const TextureObject& object = object_of(call, texture);
  if (object.memory != ObjectMemory::kLinear) stop_wrong_function(call, object);
  check_type(call, object, call.components);
  if (x < 0 || x >= object.view.size[0]) stop_out_of_range(call, object, x);
  load_texel(object.view, x, result, read);
}

void fetch_sample(const TextureCall& call, cudaTextureObject_t texture, const float position[3],
                  std::uint32_t result[4], TexelsRead* read) {
  const TextureObject& object = object_of(call, texture);
  check_function(call, object);
  check_type(call, object, call.components);
  sample(object.view, position, result, read);
}

void fetch_gathered(const TextureCall& call, cudaTextureObject_t texture, const float position[3],
                    int component, std::uint32_t result[4], TexelsRead* read) {
  const TextureObject& object = object_of(call, texture);
  check_function(call, object);
  check_type(call, object, 1);
  gather(object.view, position, component, result, read);
}

void* surface_address(const TextureCall& call, cudaSurfaceObject_t surface, int x, int y, int z,
                      cudaSurfaceBoundaryMode mode) {
  const TextureObject& object = object_of(call, surface);
  const TextureView& view = object.view;
  if (view.dimensions != call.dimensions) stop_other_dimensions(call, object);
  const int bytes = call.component_bytes;
  if (x % bytes != 0) stop_misaligned(call, object, x);
  const int row_bytes = view.size[0] * view.texel_bytes;
  const bool inside =
      x >= 0 && x <= row_bytes - bytes && y >= 0 && y < view.size[1] && z >= 0 && z < view.size[2];
  if (!inside) {
    if (mode == cudaBoundaryModeZero) return nullptr;
    if (mode == cudaBoundaryModeTrap) stop_outside(call, object, x, y);
    x = clamped(x, (row_bytes - bytes) / bytes * bytes);
    y = clamped(y, view.size[1] - 1);
    z = clamped(z, view.size[2] - 1);
  }
  return const_cast<char*>(view.texels) + static_cast<std::size_t>(z) * view.slice +
         static_cast<std::size_t>(y) * view.pitch + static_cast<std::size_t>(x);
}

}  // namespace cuda_cpu
