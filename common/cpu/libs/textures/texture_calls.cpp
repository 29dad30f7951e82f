// SPDX-License-Identifier: MIT
// Errors are those that an H200's runtime returns. Like it, memory that is smaller than the texture
// over it is refused only when a kernel reads there.
#include "texture_calls.h"

#include <algorithm>
#include <cstdint>

#include "../../engine/memory/memory.h"
#include "../../engine/state/device_limits.h"
#include "../../report/diagnostics.h"
#include "../../runtime/errors.h"
#include "../../runtime/work_queues.h"
#include "arrays.h"
#include "texture_objects.h"

namespace cuda_cpu {
namespace {

/// The object of a number, if it is of this kind and not destroyed.
TextureObject* known_object(std::uint64_t number, ObjectKind kind) {
  TextureObject* const object = find_texture_object(number);
  return object != nullptr && object->live && object->kind == kind ? object : nullptr;
}

cudaError_t keep(const TextureObject& object, unsigned long long* result) {
  const std::uint64_t number = add_texture_object(object);
  if (number == 0) return finish(cudaErrorMemoryAllocation);
  *result = number;
  return cudaSuccess;
}

template <class T>
cudaError_t tell(T* result, cudaTextureObject_t texture, T TextureObject::*what) {
  CUDA_CPU_BEGIN_CALL();
  const TextureObject* const object = known_object(texture, ObjectKind::kTexture);
  if (result == nullptr || object == nullptr) return finish(cudaErrorInvalidValue);
  *result = object->*what;
  return cudaSuccess;
}

void set_format(const cudaChannelFormatDesc& format, TextureView* view) {
  view->component_bytes = format.x / 8;
  view->components = (format.x != 0) + (format.y != 0) + (format.z != 0) + (format.w != 0);
  view->texel_bytes = view->component_bytes * view->components;
  view->kind = format.f;
}

/// Refuses memory that the device cannot read, or that begins at an address which is not a multiple
/// of the alignment of textures.
int check_memory(Site site, const void* memory) {
  if (memory == nullptr || !is_kernel_accessible(memory)) {
    return misuse(site, cudaErrorInvalidValue,
                  memory == nullptr ? "cudaCreateTextureObject over a null pointer"
                                    : "cudaCreateTextureObject over memory of the host",
                  {}, {}, "the memory must come from cudaMalloc or cudaMallocPitch");
  }
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  MemoryRange range;
  // What cudaMalloc returns is aligned on a GPU, whatever the backend made of it.
  const bool known = find_live_range(memory, &range);
  const std::size_t offset = known ? address - range.base : address;
  if (offset % kTextureAlignment == 0) return cudaSuccess;
  return misuse(site, cudaErrorInvalidValue,
                "cudaCreateTextureObject over memory that is not aligned",
                {format("it begins %zu bytes into its allocation; that must be a multiple of %zu",
                        offset, kTextureAlignment)},
                {}, "read the whole allocation, and add the offset to the coordinate");
}

int set_memory(const void* memory, const cudaChannelFormatDesc& format, TextureObject* object) {
  if (const int error = check_format(format)) return error;
  if (const int error = check_memory(object->created, memory)) return error;
  set_format(format, &object->view);
  object->view.texels = static_cast<const char*>(memory);
  return cudaSuccess;
}

int set_linear(TextureObject* object) {
  const auto& linear = object->resource.res.linear;
  TextureView* const view = &object->view;
  if (const int error = set_memory(linear.devPtr, linear.desc, object)) return error;
  const std::size_t texels = linear.sizeInBytes / static_cast<std::size_t>(view->texel_bytes);
  if (texels > kMaxTexture1DLinear) return cudaErrorInvalidValue;
  view->size[0] = static_cast<int>(texels);
  return cudaSuccess;
}

int set_pitched(TextureObject* object) {
  const auto& pitched = object->resource.res.pitch2D;
  TextureView* const view = &object->view;
  if (const int error = set_memory(pitched.devPtr, pitched.desc, object)) return error;
  if (pitched.pitchInBytes % kTexturePitchAlignment != 0) {
    return misuse(object->created, cudaErrorInvalidValue,
                  "cudaCreateTextureObject with a pitch that is not aligned",
                  {format("the pitch is %zu bytes; it must be a multiple of %zu",
                          pitched.pitchInBytes, kTexturePitchAlignment)},
                  {}, "allocate with cudaMallocPitch, which chooses a pitch");
  }
  if (pitched.width > kMaxTextureWidth || pitched.height > kMaxPitchedHeight ||
      pitched.pitchInBytes > kMaxTexturePitch) {
    return cudaErrorInvalidValue;
  }
  view->pitch = pitched.pitchInBytes;
  view->size[0] = std::max(1, static_cast<int>(pitched.width));
  view->size[1] = std::max(1, static_cast<int>(pitched.height));
  view->dimensions = 2;
  return cudaSuccess;
}

int set_array(const char* call, TextureObject* object) {
  const cudaArray* const array = object->resource.res.array.array;
  if (const int error = check_array(call, object->created, array)) return error;
  TextureView* const view = &object->view;
  set_format(array->format, view);
  view->texels = array->texels;
  view->pitch = array->row_bytes;
  view->slice = array->row_bytes * array->rows();
  view->size[0] = static_cast<int>(array->extent.width);
  view->size[1] = static_cast<int>(array->rows());
  view->size[2] = static_cast<int>(array->layers());
  view->dimensions = array->extent.depth != 0 ? 3 : array->extent.height != 0 ? 2 : 1;
  return cudaSuccess;
}

/// How the texture is read.
int set_sampling(Site site, const cudaTextureDesc& description, TextureView* view) {
  const bool is_float = view->kind == cudaChannelFormatKindFloat;
  view->as_float = description.readMode == cudaReadModeNormalizedFloat;
  view->linear = description.filterMode == cudaFilterModeLinear;
  if (description.filterMode < cudaFilterModePoint ||
      description.filterMode > cudaFilterModeLinear) {
    return cudaErrorInvalidValue;
  }
  if (description.sRGB != 0) {
    return misuse(site, cudaErrorNotSupported,
                  "textures that convert from sRGB are not supported by the CPU backend");
  }
  if (view->linear && !is_float && !view->as_float) {
    return misuse(site, cudaErrorInvalidFilterSetting,
                  "linear filtering of a texture that returns integers", {}, {},
                  "filter floats, or read the integers as cudaReadModeNormalizedFloat");
  }
  if (view->as_float && (is_float || view->component_bytes == 4)) {
    if (view->linear && !is_float) return cudaErrorInvalidFilterSetting;
    return misuse(site, cudaErrorInvalidNormSetting,
                  "cudaReadModeNormalizedFloat of texels that it cannot convert", {}, {},
                  "it reads 8-bit and 16-bit integers; floats are read with "
                  "cudaReadModeElementType");
  }
  view->normalized = description.normalizedCoords != 0;
  for (int i = 0; i < 3; ++i) {
    const cudaTextureAddressMode mode = description.addressMode[i];
    if (i < view->dimensions && (mode < cudaAddressModeWrap || mode > cudaAddressModeBorder)) {
      return cudaErrorInvalidValue;
    }
    view->address[i] = mode;
  }
  std::copy(std::begin(description.borderColor), std::end(description.borderColor), view->border);
  return cudaSuccess;
}

cudaError_t destroy(unsigned long long number, ObjectKind kind, Site site) {
  TextureObject* const object = known_object(number, kind);
  if (object == nullptr) return cudaSuccess;  // the toolkit says nothing either
  if (const int error = run_all_streams()) return finish(error);
  object->destroyed = site;
  object->live = false;
  return cudaSuccess;
}

}  // namespace
}  // namespace cuda_cpu

using namespace cuda_cpu;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* view, Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (texture == nullptr || resource == nullptr) return finish(cudaErrorInvalidValue);
  if (description == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (view != nullptr || resource->resType == cudaResourceTypeMipmappedArray) {
    return finish(misuse(site, cudaErrorNotSupported,
                         "views and mipmapped arrays are not supported by the CPU backend"));
  }
  TextureObject object{ObjectKind::kTexture, site, *resource, *description};
  int error = cudaErrorInvalidValue;
  if (resource->resType == cudaResourceTypeLinear) {
    error = set_linear(&object);
  } else if (resource->resType == cudaResourceTypePitch2D) {
    error = set_pitched(&object);
  } else if (resource->resType == cudaResourceTypeArray) {
    error = set_array("cudaCreateTextureObject", &object);
  }
  if (error == cudaSuccess) error = set_sampling(site, *description, &object.view);
  if (error != cudaSuccess) return finish(error);
  return keep(object, texture);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture, Site site) {
  CUDA_CPU_BEGIN_CALL();
  return destroy(texture, ObjectKind::kTexture, site);
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture) {
  return tell(resource, texture, &TextureObject::resource);
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description,
                                            cudaTextureObject_t texture) {
  return tell(description, texture, &TextureObject::description);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource,
                                    Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (surface == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray) {
    return finish(cudaErrorInvalidValue);
  }
  TextureObject object{ObjectKind::kSurface, site, *resource};
  if (const int error = set_array("cudaCreateSurfaceObject", &object)) return finish(error);
  return keep(object, surface);
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface, Site site) {
  CUDA_CPU_BEGIN_CALL();
  return destroy(surface, ObjectKind::kSurface, site);
}
