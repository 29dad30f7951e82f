// SPDX-License-Identifier: MIT
// An array is device memory with rows side by side. Errors are those that an H200's runtime
// returns.
#include "arrays.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "../../engine/memory/memory.h"
#include "../../engine/state/device_limits.h"
#include "../../report/diagnostics.h"
#include "../../runtime/allocation.h"
#include "../../runtime/capture.h"
#include "../../runtime/contexts.h"
#include "../../runtime/copies.h"
#include "../../runtime/errors.h"
#include "../../runtime/handles.h"
#include "../../runtime/work_queues.h"
#include "array_memory.h"

namespace cuda_cpu {
namespace {

Report::Note allocated_note(const cudaArray& array) {
  return {array.allocated, format("allocated here by %s", array.call)};
}

std::size_t texel_bytes(const cudaChannelFormatDesc& format) {
  return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
}

cudaError_t make_array(const char* call, Site site, cudaArray_t* result,
                       const cudaChannelFormatDesc* format, cudaExtent extent, unsigned flags) {
  if (result == nullptr || format == nullptr) return finish(cudaErrorInvalidValue);
  if (const int error = check_format(*format)) return finish(error);
  if ((flags & (cudaArrayLayered | cudaArrayCubemap)) != 0) {
    return finish(misuse(site, cudaErrorNotSupported,
                         cuda_cpu::format("%s: layered and cubemap arrays are not "
                                          "supported by the CPU backend",
                                          call)));
  }
  const unsigned known = cudaArraySurfaceLoadStore | cudaArrayTextureGather;
  if ((flags & ~known) != 0) return finish(cudaErrorInvalidValue);
  const bool three = extent.depth != 0;
  const std::size_t widest = three ? kMaxTexture3D : kMaxTextureWidth;
  const std::size_t highest = three ? kMaxTexture3D : kMaxTextureHeight;
  if (extent.width == 0 || extent.width > widest || extent.height > highest ||
      extent.depth > kMaxTexture3D || (three && extent.height == 0)) {
    return finish(cudaErrorInvalidValue);
  }
  if (const int error = capture_rules.unsafe(call)) return finish(error);
  const std::size_t row_bytes = extent.width * texel_bytes(*format);
  auto array = std::make_unique<cudaArray>(
      cudaArray{*format, extent, flags, row_bytes, nullptr, call, site});
  AllocationRequest request;
  request.size = row_bytes * array->rows() * array->layers();
  request.call = call;
  request.allocated = site;
  request.device = current_device();
  array->texels = static_cast<char*>(allocate(request));
  if (array->texels == nullptr) return finish(cudaErrorMemoryAllocation);
  *result = array.release();
  handles<cudaArray>().add(*result);  // and for ever, so that a freed one is still known
  return cudaSuccess;
}

/// One end of a copy: a row, and how far it is to the next row and to the next layer.
struct Place {
  char* at;
  std::size_t pitch, layer;
};

/// Where a block of an array begins. Positions and width in bytes, rows and layers otherwise.
int place_in(const char* call, Site site, cudaArray_const_t array, const char* role, cudaPos at,
             cudaExtent extent, Place* place) {
  if (const int error = check_array(call, site, array)) return error;
  const std::size_t rows = array->rows(), row_bytes = array->row_bytes;
  const auto beyond = [](std::size_t first, std::size_t count, std::size_t size) {
    return first > size || count > size - first;
  };
  if (beyond(at.x, extent.width, row_bytes) || beyond(at.y, extent.height, rows) ||
      beyond(at.z, extent.depth, array->layers())) {
    return misuse(
        site, cudaErrorInvalidValue, format("%s past the end of the %s", call, role),
        {format("bytes %zu to %zu of rows %zu to %zu; the array has %zu rows of %zu bytes", at.x,
                at.x + extent.width, at.y, at.y + extent.height, rows, row_bytes)},
        {allocated_note(*array)}, "widths and offsets within a row count bytes, not elements");
  }
  *place = {array->texels + (at.z * rows + at.y) * row_bytes + at.x, row_bytes, rows * row_bytes};
  return cudaSuccess;
}

bool goes_to_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
         kind == cudaMemcpyDefault;
}
bool comes_from_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
         kind == cudaMemcpyDefault;
}

cudaError_t copy_to_array(const char* call, Site site, cudaArray_t destination, std::size_t x,
                          std::size_t y, const void* source, std::size_t pitch, std::size_t width,
                          std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                          bool async) {
  if (!goes_to_device(kind)) return finish(cudaErrorInvalidMemcpyDirection);
  Place to;
  if (const int error =
          place_in(call, site, destination, "array", {x, y, 0}, {width, height, 1}, &to)) {
    return finish(error);
  }
  return copy_block(call, site, to.at, std::max(to.pitch, width), source, pitch, width, height,
                    kind, stream, async);
}

/// Rows of an array lie side by side, so bytes that run on from row to row are one piece.
int run_in(const char* call, Site site, cudaArray_const_t array, std::size_t x, std::size_t y,
           std::size_t bytes, char** at) {
  Place first;
  if (const int error = place_in(call, site, array, "array", {x, y, 0}, {0, 0, 0}, &first)) {
    return error;
  }
  const std::size_t left = first.layer - (y * first.pitch + x);
  if (bytes > left) {
    return misuse(site, cudaErrorInvalidValue, format("%s past the end of the array", call),
                  {format("%zu bytes are asked for; from there to the end are %zu", bytes, left)},
                  {allocated_note(*array)});
  }
  *at = first.at;
  return cudaSuccess;
}

/// One side of cudaMemcpy3D. Where an array takes part, positions count its texels.
int place_3d(const char* call, Site site, cudaArray_const_t array, const cudaPitchedPtr& pointer,
             cudaPos at, std::size_t unit, cudaExtent bytes, const char* role, Place* place) {
  if (array != nullptr) {
    if (pointer.ptr != nullptr) return cudaErrorInvalidValue;
    at.x *= unit;
    return place_in(call, site, array, role, at, bytes, place);
  }
  if (pointer.ptr == nullptr) return cudaErrorInvalidValue;
  const std::size_t layer = pointer.pitch * pointer.ysize;
  char* const first = static_cast<char*>(pointer.ptr) + at.z * layer + at.y * pointer.pitch + at.x;
  *place = {first, pointer.pitch, layer};
  return cudaSuccess;
}

cudaError_t copy_3d(const char* call, Site site, const cudaMemcpy3DParms* copy, cudaStream_t stream,
                    bool async) {
  if (copy == nullptr) return finish(cudaErrorInvalidValue);
  std::size_t unit = 1;
  for (const cudaArray_const_t array : {copy->srcArray, copy->dstArray}) {
    if (array == nullptr) continue;
    if (const int error = check_array(call, site, array)) return finish(error);
    unit = texel_bytes(array->format);
  }
  cudaExtent bytes = copy->extent;
  bytes.width *= unit;
  if (bytes.width == 0 || bytes.height == 0 || bytes.depth == 0) return cudaSuccess;
  if ((copy->dstArray != nullptr && !goes_to_device(copy->kind)) ||
      (copy->srcArray != nullptr && !comes_from_device(copy->kind))) {
    return finish(cudaErrorInvalidMemcpyDirection);
  }
  Place to, from;
  int error = place_3d(call, site, copy->dstArray, copy->dstPtr, copy->dstPos, unit, bytes,
                       "destination", &to);
  if (error == 0) {
    error = place_3d(call, site, copy->srcArray, copy->srcPtr, copy->srcPos, unit, bytes, "source",
                     &from);
  }
  if (error != 0) return finish(error);
  for (std::size_t z = 0; z < bytes.depth; ++z) {
    const cudaError_t failed =
        copy_block(call, site, to.at + z * to.layer, to.pitch, from.at + z * from.layer, from.pitch,
                   bytes.width, bytes.height, copy->kind, stream, async);
    if (failed != cudaSuccess) return failed;
  }
  return cudaSuccess;
}

cudaError_t fill_3d(const char* call, Site site, cudaPitchedPtr memory, int value,
                    cudaExtent extent, CUstream_st* stream) {
  const bool layers_fit = extent.depth <= 1 || extent.height <= memory.ysize;
  if (extent.width > memory.pitch || !layers_fit) return finish(cudaErrorInvalidValue);
  for (std::size_t z = 0; z < extent.depth; ++z) {
    char* const layer = static_cast<char*>(memory.ptr) + z * memory.pitch * memory.ysize;
    const cudaError_t failed =
        fill_block(call, site, layer, memory.pitch, value, extent.width, extent.height, stream);
    if (failed != cudaSuccess) return failed;
  }
  return cudaSuccess;
}

}  // namespace

int check_array(const char* call, Site site, cudaArray_const_t array) {
  if (array == nullptr) return cudaErrorInvalidResourceHandle;
  if (!handles<cudaArray>().has(array)) {
    return misuse(site, cudaErrorInvalidResourceHandle,
                  format("%s of something that is no array", call), {}, {},
                  "arrays come from cudaMallocArray and cudaMalloc3DArray");
  }
  if (!array->live) {
    return misuse(site, cudaErrorInvalidResourceHandle,
                  format("%s of an array that was freed", call), {},
                  {allocated_note(*array), {array->freed, "freed here"}});
  }
  return cudaSuccess;
}

int check_format(const cudaChannelFormatDesc& format) {
  const int bits[4] = {format.x, format.y, format.z, format.w};
  const auto channels = 4 - std::count(bits, bits + 4, 0);
  const bool known_bits = bits[0] == 8 || bits[0] == 16 || bits[0] == 32;
  const bool known_kind = format.f == cudaChannelFormatKindSigned ||
                          format.f == cudaChannelFormatKindUnsigned ||
                          (format.f == cudaChannelFormatKindFloat && bits[0] != 8);
  bool alike = true;
  for (int i = 0; i < 4; ++i) alike = alike && bits[i] == (i < channels ? bits[0] : 0);
  return known_bits && known_kind && alike && (channels == 1 || channels == 2 || channels == 4)
             ? cudaSuccess
             : cudaErrorInvalidChannelDescriptor;
}

}  // namespace cuda_cpu

using namespace cuda_cpu;

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                            size_t height, unsigned int flags, Site site) {
  CUDA_CPU_BEGIN_CALL();
  if ((flags & (cudaArrayLayered | cudaArrayCubemap)) != 0) return finish(cudaErrorInvalidValue);
  return make_array("cudaMallocArray", site, array, format, {width, height, 0}, flags);
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned int flags, Site site) {
  CUDA_CPU_BEGIN_CALL();
  return make_array("cudaMalloc3DArray", site, array, format, extent, flags);
}

cudaError_t cudaFreeArray(Located<cudaArray_t> array) {
  CUDA_CPU_BEGIN_CALL();
  if (array.value == nullptr) return cudaSuccess;
  if (const int error = capture_rules.unsafe("cudaFreeArray")) return finish(error);
  if (const int error = check_array("cudaFreeArray", array.site, array.value)) {
    return finish(error);
  }
  // Like cudaFree, it waits for the device first.
  if (const int error = run_all_streams()) return finish(error);
  array.value->live = false;
  array.value->freed = array.site;
  release(reinterpret_cast<std::uintptr_t>(array.value->texels), array.site);
  return finish(sticky_error());
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array) {
  CUDA_CPU_BEGIN_CALL();
  if (!handles<cudaArray>().has(array)) return finish(cudaErrorInvalidResourceHandle);
  if (format != nullptr) *format = array->format;
  if (extent != nullptr) *extent = array->extent;
  if (flags != nullptr) *flags = array->flags;
  return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  if (format == nullptr) return finish(cudaErrorInvalidValue);
  return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t destination, size_t x, size_t y, const void* source,
                                size_t source_pitch, size_t width, size_t height,
                                cudaMemcpyKind kind, Site site) {
  CUDA_CPU_BEGIN_CALL();
  return copy_to_array("cudaMemcpy2DToArray", site, destination, x, y, source, source_pitch, width,
                       height, kind, nullptr, false);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t destination, size_t x, size_t y,
                                     const void* source, size_t source_pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                                     Site site) {
  CUDA_CPU_BEGIN_CALL();
  return copy_to_array("cudaMemcpy2DToArrayAsync", site, destination, x, y, source, source_pitch,
                       width, height, kind, stream, true);
}

cudaError_t cudaMemcpy2DFromArray(void* destination, size_t destination_pitch,
                                  cudaArray_const_t source, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind, Site site) {
  CUDA_CPU_BEGIN_CALL();
  constexpr const char* kCall = "cudaMemcpy2DFromArray";
  if (!comes_from_device(kind)) return finish(cudaErrorInvalidMemcpyDirection);
  Place from;
  if (const int error =
          place_in(kCall, site, source, "array", {x, y, 0}, {width, height, 1}, &from)) {
    return finish(error);
  }
  return copy_block(kCall, site, destination, destination_pitch, from.at,
                    std::max(from.pitch, width), width, height, kind, nullptr, false);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t destination, size_t destination_x,
                                     size_t destination_y, cudaArray_const_t source,
                                     size_t source_x, size_t source_y, size_t width, size_t height,
                                     cudaMemcpyKind kind, Site site) {
  CUDA_CPU_BEGIN_CALL();
  constexpr const char* kCall = "cudaMemcpy2DArrayToArray";
  if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
    return finish(cudaErrorInvalidMemcpyDirection);
  }
  Place from;
  if (const int error = place_in(kCall, site, source, "source", {source_x, source_y, 0},
                                 {width, height, 1}, &from)) {
    return finish(error);
  }
  return copy_to_array(kCall, site, destination, destination_x, destination_y, from.at, from.pitch,
                       width, height, kind, nullptr, false);
}

cudaError_t cudaMemcpyToArray(cudaArray_t destination, size_t x, size_t y, const void* source,
                              size_t bytes, cudaMemcpyKind kind, Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (!goes_to_device(kind)) return finish(cudaErrorInvalidMemcpyDirection);
  char* to = nullptr;
  if (const int error = run_in("cudaMemcpyToArray", site, destination, x, y, bytes, &to)) {
    return finish(error);
  }
  return copy_row("cudaMemcpyToArray", site, to, source, bytes, kind, nullptr, false);
}

cudaError_t cudaMemcpyFromArray(void* destination, cudaArray_const_t source, size_t x, size_t y,
                                size_t bytes, cudaMemcpyKind kind, Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (!comes_from_device(kind)) return finish(cudaErrorInvalidMemcpyDirection);
  char* from = nullptr;
  if (const int error = run_in("cudaMemcpyFromArray", site, source, x, y, bytes, &from)) {
    return finish(error);
  }
  return copy_row("cudaMemcpyFromArray", site, destination, from, bytes, kind, nullptr, false);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent, Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (memory == nullptr) return finish(cudaErrorInvalidValue);
  if (extent.depth != 0 && extent.height > SIZE_MAX / extent.depth) {
    return finish(cudaErrorMemoryAllocation);
  }
  cudaPitchedPtr made{nullptr, 0, extent.width, extent.height};
  const cudaError_t error =
      malloc_pitch(&made.ptr, &made.pitch, extent.width, extent.height * extent.depth,
                   request_for<void>(site), "cudaMalloc3D");
  if (error == cudaSuccess) *memory = made;
  return error;
}

cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent, Site site) {
  CUDA_CPU_BEGIN_CALL();
  const cudaError_t error = fill_3d("cudaMemset3D", site, memory, value, extent, nullptr);
  return error != cudaSuccess ? error : finish(run_stream(nullptr));
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent,
                              cudaStream_t stream, Site site) {
  CUDA_CPU_BEGIN_CALL();
  return fill_3d("cudaMemset3DAsync", site, memory, value, extent, stream);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy, Site site) {
  CUDA_CPU_BEGIN_CALL();
  return copy_3d("cudaMemcpy3D", site, copy, nullptr, false);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream, Site site) {
  CUDA_CPU_BEGIN_CALL();
  return copy_3d("cudaMemcpy3DAsync", site, copy, stream, true);
}
