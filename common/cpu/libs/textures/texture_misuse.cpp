// SPDX-License-Identifier: MIT
#include "texture_misuse.h"

#include <string>

#include "../../engine/current.h"
#include "../../engine/worker.h"
#include "../../report/diagnostics.h"
#include "../../types/error_codes.h"

namespace cuda_cpu {
namespace {

Report wrong_use(const TextureCall& call, const std::string& headline) {
  if (!in_kernel()) die("%s called outside of a kernel", call.function);
  return report_here(headline, {call.file, call.line}, cudaErrorIllegalAddress);
}

bool is_texture(const TextureCall& call) { return call.function[0] == 't'; }

Report::Note created_note(const TextureObject& object) {
  return {object.created, "the object was created here"};
}

const char* memory_name(ObjectMemory memory) {
  static const char* const kNames[] = {"an array", "linear memory", "pitched memory"};
  return kNames[static_cast<int>(memory)];
}

std::string format_name(const TextureView& view) {
  const char* const kinds[] = {"unsigned integers", "signed integers", "floats"};
  return format("%d component%s: %d-bit %s", view.components, view.components == 1 ? "" : "s",
                view.component_bytes * 8, kinds[static_cast<int>(view.kind)]);
}

}  // namespace

void stop_without_object(const TextureCall& call, std::uint64_t number) {
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
  stop_grid(it);
}

void stop_destroyed(const TextureCall& call, const TextureObject& object) {
  Report it = wrong_use(call, format("%s of an object that was destroyed", call.function));
  it.notes = {created_note(object), {object.destroyed, "destroyed here"}};
  stop_grid(it);
}

void stop_other_kind(const TextureCall& call, const TextureObject& object) {
  Report it = wrong_use(
      call, format("%s of a %s object", call.function, is_texture(call) ? "surface" : "texture"));
  it.notes = {created_note(object)};
  stop_grid(it);
}

void stop_array_freed(const TextureCall& call, const TextureObject& object) {
  Report it = wrong_use(call, format("%s: the array was freed", call.function));
  it.notes = {{object.array->allocated, format("allocated here by %s", object.array->call)},
              {object.array->freed, "freed here"},
              created_note(object)};
  it.help = "destroy the object first, then free the array, when no kernel uses them any more";
  stop_grid(it);
}

void stop_wrong_type(const TextureCall& call, const TextureObject& object, const char* why) {
  const TextureView& view = object.view;
  Report it =
      wrong_use(call, format("%s with a type that the texture does not hold", call.function));
  it.details = {why, "a texel has " + format_name(view) +
                         (view.as_float ? ", read as normalized floats" : "")};
  it.notes = {created_note(object)};
  it.cuda_error = cudaErrorLaunchFailure;
  stop_grid(it);
}

void stop_wrong_function(const TextureCall& call, const TextureObject& object) {
  const int dimensions = object.view.dimensions;
  Report it = wrong_use(call, format("%s of a texture that is not read so", call.function));
  it.details = {object.memory == ObjectMemory::kLinear
                    ? "a texture over linear memory is read with tex1Dfetch"
                    : format("the texture lies over %s of %d dimension%s: read it with tex%dD",
                             memory_name(object.memory), dimensions, dimensions == 1 ? "" : "s",
                             dimensions)};
  it.notes = {created_note(object)};
  it.cuda_error = cudaErrorLaunchFailure;
  stop_grid(it);
}

void stop_out_of_range(const TextureCall& call, const TextureObject& object, int texel) {
  Report it = wrong_use(call, format("%s out of range", call.function));
  it.details = {format("texel %d is asked for; the texture has %d", texel, object.view.size[0])};
  it.notes = {created_note(object)};
  it.help = "a GPU returns 0 there and says nothing; guard the index: if (i < n)";
  stop_grid(it);
}

void stop_other_dimensions(const TextureCall& call, const TextureObject& object) {
  const int dimensions = object.view.dimensions;
  Report it = wrong_use(call, format("%s of a surface of %d dimension%s", call.function, dimensions,
                                     dimensions == 1 ? "" : "s"));
  it.notes = {created_note(object)};
  it.cuda_error = cudaErrorLaunchFailure;
  stop_grid(it);
}

void stop_misaligned(const TextureCall& call, const TextureObject& object, int x) {
  Report it = wrong_use(call, format("misaligned %s", call.function));
  it.details = {format("x counts bytes: %d is no multiple of %d", x, call.component_bytes)};
  it.notes = {created_note(object)};
  it.help = "multiply the column by sizeof of the element";
  it.cuda_error = cudaErrorMisalignedAddress;
  stop_grid(it);
}

void stop_outside(const TextureCall& call, const TextureObject& object, int x, int y) {
  const TextureView& view = object.view;
  Report it = wrong_use(call, format("%s outside the surface", call.function));
  it.details = {format("at byte %d of row %d; the surface has %d bytes in each of %d rows", x, y,
                       view.size[0] * view.texel_bytes, view.size[1])};
  it.notes = {created_note(object)};
  it.help = "x counts bytes, y rows; guard both, or choose cudaBoundaryModeZero";
  stop_grid(it);
}

}  // namespace cuda_cpu
