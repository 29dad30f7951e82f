// SPDX-License-Identifier: MIT
// Allocation: device, managed and pinned memory, registered host memory, and what an address is.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../engine/memory/marked_pointers.h"
#include "../engine/memory/memory.h"
#include "types.h"

namespace cuda_cpu {

/// What the call says of the memory that it asks for: its line, and what will lie there. T is void
/// where that is unknown.
template <class T>
AllocationRequest request_for(Site site) {
  AllocationRequest request;
  request.allocated = site;
  if constexpr (!std::is_void_v<T>) {
    request.element_size = sizeof(T);
    request.alignment = alignof(T);
    request.may_hold_pointers = may_hold_pointers<T>();
  }
  return request;
}

cudaError_t malloc_device(void** pointer, std::size_t bytes, AllocationRequest request,
                          const char* call = "cudaMalloc");
cudaError_t free_memory(const char* call, const Located<void*>& pointer);
/// `pool` is nullptr for the device's current one.
cudaError_t malloc_from_pool(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                             cudaStream_t stream, AllocationRequest request);
cudaError_t malloc_managed(void** pointer, std::size_t bytes, unsigned flags,
                           AllocationRequest request);
cudaError_t malloc_pitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                         AllocationRequest request, const char* call = "cudaMallocPitch");
cudaError_t host_alloc(void** pointer, std::size_t bytes, unsigned flags, const char* call,
                       AllocationRequest request);
cudaError_t host_get_device_pointer(void** device, void* host, unsigned flags);

}  // namespace cuda_cpu

template <class T>
cudaError_t cudaMalloc(T** pointer, size_t bytes, CUDA_CPU_SITE) {
  return cuda_cpu::malloc_device(reinterpret_cast<void**>(pointer), bytes,
                                 cuda_cpu::request_for<T>(site));
}

template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream, CUDA_CPU_SITE) {
  return cuda_cpu::malloc_from_pool(reinterpret_cast<void**>(pointer), bytes, nullptr, stream,
                                    cuda_cpu::request_for<T>(site));
}

template <class T>
cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream, CUDA_CPU_SITE) {
  return cuda_cpu::malloc_from_pool(reinterpret_cast<void**>(pointer), bytes, pool, stream,
                                    cuda_cpu::request_for<T>(site));
}

/// The same under another name.
template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                            CUDA_CPU_SITE) {
  return cudaMallocFromPoolAsync(pointer, bytes, pool, stream, site);
}

template <class T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned int flags = cudaMemAttachGlobal,
                              CUDA_CPU_SITE) {
  return cuda_cpu::malloc_managed(reinterpret_cast<void**>(pointer), bytes, flags,
                                  cuda_cpu::request_for<T>(site));
}

template <class T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height,
                            CUDA_CPU_SITE) {
  return cuda_cpu::malloc_pitch(reinterpret_cast<void**>(pointer), pitch, width, height,
                                cuda_cpu::request_for<T>(site));
}

template <class T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned int flags = cudaHostAllocDefault,
                           CUDA_CPU_SITE) {
  return cuda_cpu::host_alloc(reinterpret_cast<void**>(pointer), bytes, flags, "cudaMallocHost",
                              cuda_cpu::request_for<T>(site));
}

template <class T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned int flags, CUDA_CPU_SITE) {
  return cuda_cpu::host_alloc(reinterpret_cast<void**>(pointer), bytes, flags, "cudaHostAlloc",
                              cuda_cpu::request_for<T>(site));
}

template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
  return cuda_cpu::host_get_device_pointer(reinterpret_cast<void**>(device), host, flags);
}

cudaError_t cudaFree(cuda_cpu::Located<void*> pointer);
cudaError_t cudaFreeHost(cuda_cpu::Located<void*> pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream, CUDA_CPU_SITE);
cudaError_t cudaHostGetFlags(unsigned int* flags, void* host);
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int flags, CUDA_CPU_SITE);
cudaError_t cudaHostUnregister(cuda_cpu::Located<void*> pointer);
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream = nullptr, CUDA_CPU_SITE);
/// Where memory lies, or should, is a hint; on the CPU backend there is one memory.
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location);
/// The forms of CUDA 12: a device's number, or cudaCpuDeviceId.
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device,
                                 cudaStream_t stream = nullptr, CUDA_CPU_SITE);
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
