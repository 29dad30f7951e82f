// SPDX-License-Identifier: MIT
#include "textures.h"

#include <string>

#include "../report/diagnostics.h"
#include "../runtime/error_codes.h"
#include "current.h"
#include "texture_objects.h"
#include "texture_unit.h"
#include "worker.h"

namespace cuda_cpu {
namespace {

Report wrong_use(const TextureCall& call, const std::string& headline) {
  if (!in_kernel()) die("%s called outside of a kernel", call.function);
  Report it;
  it.headline = headline;
  it.site = Site{call.file, call.line};
  it.where = where();
  it.cuda_error = cudaErrorIllegalAddress;
  return it;
}

[[noreturn]] void stop(const Report& it) { abandon_grid(report(it)); }

bool is_texture(const TextureCall& call) { return call.function[0] == 't'; }

[[noreturn]] void stop_without_object(const TextureCall& call, std::uint64_t number) {
  const char* const kind = is_texture(call) ? "texture" : "surface";
  Report it = wrong_use(call, format("%s of a %s object that was never made", call.function, kind));
  if (number == 0) {
    it.details.push_back(format("the object is 0: no %s is bound to it", kind));
  } else {
    it.details.push_back(
        format("the object's value is 0x%llx", static_cast<unsigned long long>(number)));
  }
  it.help = is_texture(call) ? "did cudaCreateTextureObject fail, or come later?"
                             : "did cudaCreateSurfaceObject fail, or come later?";
  stop(it);
}

Report::Note created_note(const TextureObject& object) {
  return {object.created, "the object was created here"};
}

/// The object that a call names, if it may be used in this way.
const TextureObject& object_of(const TextureCall& call, std::uint64_t number) {
  const TextureObject* const object = find_texture_object(number);
  if (object == nullptr) stop_without_object(call, number);
  if (!object->live) {
    Report it = wrong_use(call, format("%s of an object that was destroyed", call.function));
    it.notes = {created_note(*object), {object->destroyed, "destroyed here"}};
    stop(it);
  }
  if (is_texture(call) != (object->kind == ObjectKind::kTexture)) {
    Report it = wrong_use(
        call, format("%s of a %s object", call.function, is_texture(call) ? "surface" : "texture"));
    it.notes = {created_note(*object)};
    stop(it);
  }
  if (object->array != nullptr && !object->array->live) {
    Report it = wrong_use(call, format("%s: the array was freed", call.function));
    it.notes = {{object->array->allocated, format("allocated here by %s", object->array->call)},
                {object->array->freed, "freed here"},
                created_note(*object)};
    it.help = "destroy the object first, then free the array, when no kernel uses them any more";
    stop(it);
  }
  return *object;
}

const char* memory_name(ObjectMemory memory) {
  switch (memory) {
    case ObjectMemory::kLinear:
      return "linear memory";
    case ObjectMemory::kPitched:
      return "pitched memory";
    case ObjectMemory::kArray:
      break;
  }
  return "an array";
}

std::string format_name(const TextureView& view) {
  const char* const kinds[] = {"unsigned integers", "signed integers", "floats"};
  return format("%d component%s: %d-bit %s", view.components, view.components == 1 ? "" : "s",
                view.component_bytes * 8, kinds[static_cast<int>(view.kind)]);
}

/// Stops the kernel when the type that the program names cannot hold what the texture returns.
void check_type(const TextureCall& call, const TextureObject& object) {
  const TextureView& view = object.view;
  const bool gives_floats = view.kind == TexelKind::kFloat || view.as_float;
  const char* wrong = nullptr;
  if (gives_floats != call.is_float) {
    wrong = gives_floats ? "the texture returns floats, the program reads integers"
                         : "the texture returns integers, the program reads floats";
  } else if (call.components > view.components) {
    wrong = "the program reads more components than a texel has";
  } else if (!gives_floats && call.component_bytes < view.component_bytes) {
    wrong = "a component does not fit into the type that the program names";
  }
  if (wrong == nullptr) return;
  Report it =
      wrong_use(call, format("%s with a type that the texture does not hold", call.function));
  it.details = {wrong, "a texel has " + format_name(view) +
                           (view.as_float ? ", read as normalized floats" : "")};
  it.notes = {created_note(object)};
  it.cuda_error = cudaErrorLaunchFailure;
  stop(it);
}

void check_dimensions(const TextureCall& call, const TextureObject& object) {
  const bool by_number = object.memory == ObjectMemory::kLinear;
  if (!by_number && object.view.dimensions == call.dimensions) return;
  Report it = wrong_use(call, format("%s of a texture that is not read so", call.function));
  it.details = {by_number ? "a texture over linear memory is read with tex1Dfetch"
                          : format("the texture lies over %s of %d dimension%s",
                                   memory_name(object.memory), object.view.dimensions,
                                   object.view.dimensions == 1 ? "" : "s")};
  it.notes = {created_note(object)};
  it.cuda_error = cudaErrorLaunchFailure;
  stop(it);
}

}  // namespace

void fetch_texel(const TextureCall& call, cudaTextureObject_t texture, int x,
                 std::uint32_t result[4], TexelsRead* read) {
  const TextureObject& object = object_of(call, texture);
  if (object.memory != ObjectMemory::kLinear) {
    Report it = wrong_use(call, "tex1Dfetch of a texture that is not over linear memory");
    it.details = {format("it lies over %s: read it with tex%dD", memory_name(object.memory),
                         object.view.dimensions)};
    it.notes = {created_note(object)};
    it.cuda_error = cudaErrorLaunchFailure;
    stop(it);
  }
  check_type(call, object);
  if (x < 0 || x >= object.view.size[0]) {
    Report it = wrong_use(call, "tex1Dfetch out of range");
    it.details = {format("texel %d is asked for; the texture has %d", x, object.view.size[0])};
    it.notes = {created_note(object)};
    it.help = "a GPU returns 0 there and says nothing; guard the index: if (i < n)";
    stop(it);
  }
  load_texel(object.view, x, result, read);
}

void fetch_sample(const TextureCall& call, cudaTextureObject_t texture, const float position[3],
                  std::uint32_t result[4], TexelsRead* read) {
  const TextureObject& object = object_of(call, texture);
  check_dimensions(call, object);
  check_type(call, object);
  sample(object.view, position, result, read);
}

void fetch_gathered(const TextureCall& call, cudaTextureObject_t texture, const float position[3],
                    int component, std::uint32_t result[4], TexelsRead* read) {
  const TextureObject& object = object_of(call, texture);
  check_dimensions(call, object);
  TextureCall one = call;
  one.components = 1;
  check_type(one, object);
  gather(object.view, position, component, result, read);
}

void* surface_address(const TextureCall& call, cudaSurfaceObject_t surface, int x, int y, int z,
                      cudaSurfaceBoundaryMode mode) {
  const TextureObject& object = object_of(call, surface);
  const TextureView& view = object.view;
  if (view.dimensions != call.dimensions) {
    Report it = wrong_use(call, format("%s of a surface of %d dimension%s", call.function,
                                       view.dimensions, view.dimensions == 1 ? "" : "s"));
    it.notes = {created_note(object)};
    it.cuda_error = cudaErrorLaunchFailure;
    stop(it);
  }
  const int bytes = call.component_bytes;
  if (x % bytes != 0) {
    Report it = wrong_use(call, format("misaligned %s", call.function));
    it.details = {format("x counts bytes: %d is no multiple of %d", x, bytes)};
    it.notes = {created_note(object)};
    it.help = "multiply the column by sizeof of the element";
    it.cuda_error = cudaErrorMisalignedAddress;
    stop(it);
  }
  const int row_bytes = view.size[0] * view.texel_bytes;
  const bool inside =
      x >= 0 && x <= row_bytes - bytes && y >= 0 && y < view.size[1] && z >= 0 && z < view.size[2];
  if (!inside) {
    if (mode == cudaBoundaryModeZero) return nullptr;
    if (mode == cudaBoundaryModeTrap) {
      Report it = wrong_use(call, format("%s outside the surface", call.function));
      it.details = {format("at byte %d of row %d; the surface has %d bytes in each of %d rows", x,
                           y, row_bytes, view.size[1])};
      it.notes = {created_note(object)};
      it.help = "x counts bytes, y rows; guard both, or choose cudaBoundaryModeZero";
      stop(it);
    }
    const auto clamped = [](int value, int last) {
      return value < 0 ? 0 : value > last ? last : value;
    };
    x = clamped(x, (row_bytes - bytes) / bytes * bytes);
    y = clamped(y, view.size[1] - 1);
    z = clamped(z, view.size[2] - 1);
  }
  return const_cast<char*>(view.texels) + static_cast<std::size_t>(z) * view.slice +
         static_cast<std::size_t>(y) * view.pitch + static_cast<std::size_t>(x);
}

}  // namespace cuda_cpu
