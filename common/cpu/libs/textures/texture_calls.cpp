// SPDX-License-Identifier: MIT
// Errors are those that an H200's runtime returns. Like it, memory that is smaller than the texture
// over it is refused only when a kernel reads there.
#include "texture_calls.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <mutex>

#include "../../engine/device_limits.h"
#include "../../engine/memory.h"
#include "../../runtime/call.h"
#include "../../runtime/work_queues.h"
#include "arrays.h"
#include "texture_objects.h"

namespace cuda_cpu {
namespace {

/// What an object was made from, for the functions that tell.
struct Origin {
  cudaResourceDesc resource;
  cudaTextureDesc description;
  cudaResourceViewDesc view;
};

std::mutex objects_mutex;
std::deque<Origin>& origins() {
  static auto* const all = new std::deque<Origin>;
  return *all;
}

bool is_known(cudaTextureObject_t number, ObjectKind kind) {
  const TextureObject* const object = find_texture_object(number);
  return object != nullptr && object->live && object->kind == kind;
}

cudaError_t keep(TextureObject object, Site site, const cudaResourceDesc& resource,
                 const cudaTextureDesc& description, unsigned long long* result) {
  object.created = site;
  const std::lock_guard<std::mutex> lock(objects_mutex);
  const std::uint64_t number = add_texture_object(object);
  if (number == 0) return finish(cudaErrorMemoryAllocation);
  origins().push_back({resource, description, {}});
  *result = number;
  return cudaSuccess;
}

template <class T>
cudaError_t tell(T* result, cudaTextureObject_t number, ObjectKind kind, T Origin::*what) {
  CUDA_CPU_BEGIN_CALL();
  if (result == nullptr || !is_known(number, kind)) return finish(cudaErrorInvalidValue);
  *result = origins()[number - 1].*what;
  return cudaSuccess;
}

void set_format(const int bits[4], int kind, TextureView* view) {
  view->component_bytes = bits[0] / 8;
  view->components = 0;
  for (int i = 0; i < 4; ++i) view->components += bits[i] != 0;
  view->texel_bytes = view->component_bytes * view->components;
  view->kind = kind == cudaChannelFormatKindFloat    ? TexelKind::kFloat
               : kind == cudaChannelFormatKindSigned ? TexelKind::kSigned
                                                     : TexelKind::kUnsigned;
}

/// Refuses memory that the device cannot read, or that begins at an address which is not a multiple
/// of the alignment of textures.
int check_memory(Site site, const void* memory) {
  if (memory == nullptr || !is_kernel_accessible(memory)) {
    return explain_misuse(site, cudaErrorInvalidValue,
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
  return explain_misuse(
      site, cudaErrorInvalidValue, "cudaCreateTextureObject over memory that is not aligned",
      {format("it begins %zu bytes into its allocation; that must be a multiple of %zu", offset,
              kTextureAlignment)},
      {}, "read the whole allocation, and add the offset to the coordinate");
}

int set_linear(Site site, const cudaResourceDesc& resource, TextureObject* object) {
  const auto& linear = resource.res.linear;
  if (const int error = check_format(linear.desc)) return error;
  if (const int error = check_memory(site, linear.devPtr)) return error;
  const int bits[4] = {linear.desc.x, linear.desc.y, linear.desc.z, linear.desc.w};
  TextureView* const view = &object->view;
  set_format(bits, linear.desc.f, view);
  const std::size_t texels = linear.sizeInBytes / static_cast<std::size_t>(view->texel_bytes);
  if (texels > kMaxTexture1DLinear) return cudaErrorInvalidValue;
  object->memory = ObjectMemory::kLinear;
  view->texels = static_cast<const char*>(linear.devPtr);
  view->size[0] = static_cast<int>(texels);
  return cudaSuccess;
}

int set_pitched(Site site, const cudaResourceDesc& resource, TextureObject* object) {
  const auto& pitched = resource.res.pitch2D;
  if (const int error = check_format(pitched.desc)) return error;
  if (const int error = check_memory(site, pitched.devPtr)) return error;
  if (pitched.pitchInBytes % kTexturePitchAlignment != 0) {
    return explain_misuse(site, cudaErrorInvalidValue,
                          "cudaCreateTextureObject with a pitch that is not aligned",
                          {format("the pitch is %zu bytes; it must be a multiple of %zu",
                                  pitched.pitchInBytes, kTexturePitchAlignment)},
                          {}, "allocate with cudaMallocPitch, which chooses a pitch");
  }
  if (pitched.width > kMaxTextureWidth || pitched.height > kMaxPitchedHeight ||
      pitched.pitchInBytes > kMaxTexturePitch) {
    return cudaErrorInvalidValue;
  }
  const int bits[4] = {pitched.desc.x, pitched.desc.y, pitched.desc.z, pitched.desc.w};
  TextureView* const view = &object->view;
  set_format(bits, pitched.desc.f, view);
  object->memory = ObjectMemory::kPitched;
  view->texels = static_cast<const char*>(pitched.devPtr);
  view->pitch = pitched.pitchInBytes;
  view->size[0] = std::max(1, static_cast<int>(pitched.width));
  view->size[1] = std::max(1, static_cast<int>(pitched.height));
  view->dimensions = 2;
  return cudaSuccess;
}

int set_array(const char* call, Site site, const cudaResourceDesc& resource,
              TextureObject* object) {
  if (const int error = check_array(call, site, resource.res.array.array)) return error;
  const auto& array = *reinterpret_cast<const ArrayMemory*>(resource.res.array.array);
  TextureView* const view = &object->view;
  set_format(array.bits, array.kind, view);
  object->memory = ObjectMemory::kArray;
  object->array = &array;
  view->texels = array.texels;
  view->pitch = array.row_bytes;
  view->slice = array.row_bytes * std::max<std::size_t>(array.height, 1);
  view->size[0] = static_cast<int>(array.width);
  view->size[1] = std::max(1, static_cast<int>(array.height));
  view->size[2] = std::max(1, static_cast<int>(array.depth));
  view->dimensions = array.depth != 0 ? 3 : array.height != 0 ? 2 : 1;
  return cudaSuccess;
}

/// How the texture is read.
int set_sampling(Site site, const cudaTextureDesc& description, TextureView* view) {
  const bool is_float = view->kind == TexelKind::kFloat;
  view->as_float = description.readMode == cudaReadModeNormalizedFloat;
  view->linear = description.filterMode == cudaFilterModeLinear;
  if (description.filterMode < cudaFilterModePoint ||
      description.filterMode > cudaFilterModeLinear) {
    return cudaErrorInvalidValue;
  }
  if (description.sRGB != 0) {
    return explain_misuse(site, cudaErrorNotSupported,
                          "textures that convert from sRGB are not supported by the CPU backend");
  }
  if (view->linear && !is_float && !view->as_float) {
    return explain_misuse(site, cudaErrorInvalidFilterSetting,
                          "linear filtering of a texture that returns integers", {}, {},
                          "filter floats, or read the integers as cudaReadModeNormalizedFloat");
  }
  if (view->as_float && (is_float || view->component_bytes == 4)) {
    if (view->linear && !is_float) return cudaErrorInvalidFilterSetting;
    return explain_misuse(site, cudaErrorInvalidNormSetting,
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
    view->address[i] = static_cast<AddressMode>(mode);
  }
  std::copy(std::begin(description.borderColor), std::end(description.borderColor), view->border);
  return cudaSuccess;
}

cudaError_t destroy(unsigned long long number, ObjectKind kind, Site site) {
  if (!is_known(number, kind)) return cudaSuccess;  // the toolkit says nothing either
  if (const int error = run_all_streams()) return finish(error);
  TextureObject* const object = find_texture_object(number);
  object->destroyed = site;
  object->live = false;
  return cudaSuccess;
}

}  // namespace
}  // namespace cuda_cpu

using cuda_cpu::finish;
using cuda_cpu::ObjectKind;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* view, cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (texture == nullptr || resource == nullptr) return finish(cudaErrorInvalidValue);
  if (description == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (view != nullptr || resource->resType == cudaResourceTypeMipmappedArray) {
    return finish(cuda_cpu::explain_misuse(
        site, cudaErrorNotSupported,
        "views and mipmapped arrays are not supported by the CPU backend"));
  }
  cuda_cpu::TextureObject object;
  int error = cudaErrorInvalidValue;
  if (resource->resType == cudaResourceTypeLinear) {
    error = cuda_cpu::set_linear(site, *resource, &object);
  } else if (resource->resType == cudaResourceTypePitch2D) {
    error = cuda_cpu::set_pitched(site, *resource, &object);
  } else if (resource->resType == cudaResourceTypeArray) {
    error = cuda_cpu::set_array("cudaCreateTextureObject", site, *resource, &object);
  }
  if (error == cudaSuccess) {
    error = cuda_cpu::set_sampling(site, *description, &object.view);
  }
  if (error != cudaSuccess) return finish(error);
  return cuda_cpu::keep(object, site, *resource, *description, texture);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture, cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::destroy(texture, ObjectKind::kTexture, site);
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture) {
  return cuda_cpu::tell(resource, texture, ObjectKind::kTexture, &cuda_cpu::Origin::resource);
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description,
                                            cudaTextureObject_t texture) {
  return cuda_cpu::tell(description, texture, ObjectKind::kTexture, &cuda_cpu::Origin::description);
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view,
                                                 cudaTextureObject_t texture) {
  return cuda_cpu::tell(view, texture, ObjectKind::kTexture, &cuda_cpu::Origin::view);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource,
                                    cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (surface == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray) {
    return finish(cudaErrorInvalidValue);
  }
  cuda_cpu::TextureObject object;
  object.kind = ObjectKind::kSurface;
  if (const int error = cuda_cpu::set_array("cudaCreateSurfaceObject", site, *resource, &object)) {
    return finish(error);
  }
  return cuda_cpu::keep(object, site, *resource, {}, surface);
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface, cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::destroy(surface, ObjectKind::kSurface, site);
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t surface) {
  return cuda_cpu::tell(resource, surface, ObjectKind::kSurface, &cuda_cpu::Origin::resource);
}
