// SPDX-License-Identifier: MIT
#include "fetches.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "../../engine/state/current.h"
#include "../../engine/state/leaving.h"
#include "../../report/diagnostics.h"
#include "../../types/error_codes.h"
#include "texture_objects.h"
#include "texture_unit.h"

namespace cuda_cpu {
namespace {

/// A fetch or an access to a surface, as reports name it.
struct TextureCall {
  const char* function;
  Site site;
};

bool is_of_texture(const TextureCall& call) { return call.function[0] == 't'; }

/// Reports a wrong use of a texture or surface, and ends the grid.
[[noreturn]] void stop(const TextureCall& call, std::string headline,
                       std::vector<Report::Note> notes, std::vector<std::string> details = {},
                       std::string help = "", int error = cudaErrorIllegalAddress) {
  if (!in_kernel()) die("%s called outside of a kernel", call.function);
  stop_grid(report_here(std::move(headline), call.site, error, std::move(details), std::move(help),
                        std::move(notes)));
}

Report::Note created_note(const TextureObject& object) {
  return {object.created, "the object was created here"};
}

const char* ending(int count) { return count == 1 ? "" : "s"; }

[[noreturn]] void stop_without_object(const TextureCall& call, std::uint64_t number) {
  const char* const kind = is_of_texture(call) ? "texture" : "surface";
  stop(call, format("%s of a %s object that was never made", call.function, kind), {},
       {number == 0
            ? format("the object is 0: no %s is bound to it", kind)
            : format("the object's value is 0x%llx", static_cast<unsigned long long>(number))},
       is_of_texture(call) ? "did cudaCreateTextureObject fail, or come later?"
                           : "did cudaCreateSurfaceObject fail, or come later?");
}

/// The object that a call names, if it may be used in this way.
const TextureObject& object_of(const TextureCall& call, std::uint64_t number) {
  const TextureObject* const object = find_texture_object(number);
  if (object == nullptr) stop_without_object(call, number);
  if (!object->live) {
    stop(call, format("%s of an object that was destroyed", call.function),
         {created_note(*object), {object->destroyed, "destroyed here"}});
  }
  if (is_of_texture(call) != (object->kind == ObjectKind::kTexture)) {
    stop(call,
         format("%s of a %s object", call.function, is_of_texture(call) ? "surface" : "texture"),
         {created_note(*object)});
  }
  const cudaArray* const array = object->resource.res.array.array;
  if (object->resource.resType == cudaResourceTypeArray && !array->live) {
    stop(call, format("%s: the array was freed", call.function),
         {{array->allocated, format("allocated here by %s", array->call)},
          {array->freed, "freed here"},
          created_note(*object)},
         {}, "destroy the object first, then free the array, when no kernel uses them any more");
  }
  return *object;
}

[[noreturn]] void stop_wrong_type(const TextureCall& call, const TextureObject& object,
                                  const char* why) {
  static const char* const kKinds[] = {"signed integers", "unsigned integers", "floats"};
  const TextureView& view = object.view;
  stop(call, format("%s with a type that the texture does not hold", call.function),
       {created_note(object)},
       {why,
        format("a texel has %d component%s: %d-bit %s%s", view.components, ending(view.components),
               view.component_bytes * 8, kKinds[static_cast<int>(view.kind)],
               view.as_float ? ", read as normalized floats" : "")},
       "", cudaErrorLaunchFailure);
}

/// Stops the kernel when the type that the program names cannot hold what the texture returns.
void check_type(const TextureCall& call, const TextureObject& object, const TexelForm& form,
                int components) {
  const TextureView& view = object.view;
  const bool gives_floats = view.kind == cudaChannelFormatKindFloat || view.as_float;
  if (gives_floats != form.is_float) {
    stop_wrong_type(call, object,
                    gives_floats ? "the texture returns floats, the program reads integers"
                                 : "the texture returns integers, the program reads floats");
  }
  if (components > view.components) {
    stop_wrong_type(call, object, "the program reads more components than a texel has");
  }
  if (!gives_floats && form.component_bytes < view.component_bytes) {
    stop_wrong_type(call, object, "a component does not fit into the type that the program names");
  }
}

/// `read_dimensions`: of the textures that the function reads; 0: it reads linear memory.
void check_function(const TextureCall& call, const TextureObject& object, int read_dimensions) {
  const cudaResourceType memory = object.resource.resType;
  const bool is_linear = memory == cudaResourceTypeLinear;
  const int dimensions = object.view.dimensions;
  if (read_dimensions == (is_linear ? 0 : dimensions)) return;
  stop(call, format("%s of a texture that is not read so", call.function), {created_note(object)},
       {is_linear ? "a texture over linear memory is read with tex1Dfetch"
                  : format("the texture lies over %s of %d dimension%s: read it with tex%dD",
                           memory == cudaResourceTypeArray ? "an array" : "pitched memory",
                           dimensions, ending(dimensions), dimensions)},
       "", cudaErrorLaunchFailure);
}

}  // namespace

TexelsRead fetch_texel(const char* function, const TexelForm& form, cudaTextureObject_t texture,
                       int x, Site site) {
  const TextureCall call = {function, site};
  const TextureObject& object = object_of(call, texture);
  check_function(call, object, 0);
  check_type(call, object, form, form.components);
  if (x < 0 || x >= object.view.size[0]) {
    stop(call, format("%s out of range", call.function), {created_note(object)},
         {format("texel %d is asked for; the texture has %d", x, object.view.size[0])},
         "a GPU returns 0 there and says nothing; guard the index: if (i < n)");
  }
  return load_texel(object.view, x);
}

TexelsRead fetch_sample(const char* function, int dimensions, const TexelForm& form,
                        cudaTextureObject_t texture, float x, float y, float z, Site site) {
  const TextureCall call = {function, site};
  const TextureObject& object = object_of(call, texture);
  check_function(call, object, dimensions);
  check_type(call, object, form, form.components);
  const float position[3] = {x, y, z};
  return sample(object.view, position);
}

TexelsRead fetch_gathered(const char* function, const TexelForm& form, cudaTextureObject_t texture,
                          float x, float y, int component, Site site) {
  const TextureCall call = {function, site};
  const TextureObject& object = object_of(call, texture);
  check_function(call, object, 2);
  check_type(call, object, form, 1);
  const float position[2] = {x, y};
  return gather(object.view, position, component);
}

void* surface_address(const char* function, int dimensions, int bytes, cudaSurfaceObject_t surface,
                      int x, int y, int z, cudaSurfaceBoundaryMode mode, Site site) {
  const TextureCall call = {function, site};
  const TextureObject& object = object_of(call, surface);
  const TextureView& view = object.view;
  if (view.dimensions != dimensions) {
    stop(call,
         format("%s of a surface of %d dimension%s", call.function, view.dimensions,
                ending(view.dimensions)),
         {created_note(object)}, {}, "", cudaErrorLaunchFailure);
  }
  if (x % bytes != 0) {
    stop(call, format("misaligned %s", call.function), {created_note(object)},
         {format("x counts bytes: %d is no multiple of %d", x, bytes)},
         "multiply the column by sizeof of the element", cudaErrorMisalignedAddress);
  }
  const int row_bytes = view.size[0] * view.texel_bytes;
  const bool inside =
      x >= 0 && x <= row_bytes - bytes && y >= 0 && y < view.size[1] && z >= 0 && z < view.size[2];
  if (!inside) {
    if (mode == cudaBoundaryModeZero) return nullptr;
    if (mode == cudaBoundaryModeTrap) {
      stop(call, format("%s outside the surface", call.function), {created_note(object)},
           {format("at byte %d of row %d; the surface has %d bytes in each of %d rows", x, y,
                   row_bytes, view.size[1])},
           "x counts bytes, y rows; guard both, or choose cudaBoundaryModeZero");
    }
    x = std::clamp(x, 0, (row_bytes - bytes) / bytes * bytes);
    y = std::clamp(y, 0, view.size[1] - 1);
    z = std::clamp(z, 0, view.size[2] - 1);
  }
  return const_cast<char*>(view.texels) + static_cast<std::size_t>(z) * view.slice +
         static_cast<std::size_t>(y) * view.pitch + static_cast<std::size_t>(x);
}

}  // namespace cuda_cpu
