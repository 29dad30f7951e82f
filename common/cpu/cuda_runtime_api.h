// SPDX-License-Identifier: MIT
// The CUDA runtime API of the CPU backend: the functions that the tutorial teaches, with the names,
// arguments and error codes of CUDA 13.0. What is not declared here is not supported; using it is a
// compile error, never a call that does nothing.
//
// Calls that can be misused carry the place of the call as a last argument that fills itself in, so
// that a report can say where memory was allocated or freed.
#pragma once

#include <cstddef>
#include <type_traits>

#include "launch.h"
#include "runtime_types.h"
#include "vector_types.h"

namespace cuda_cpu {

// diagnostics.h has their description.
int record_error(int cuda_error);
const char* function_name(const void* address, const char* fallback);

/// An argument together with the place of the call. Unlike a defaulted last argument it leaves the
/// function usable as a deleter: std::unique_ptr<float, decltype(&cudaFree)>.
template <class T>
struct Located {
  T value;
  Site site;
  Located(T v, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : value(v), site{file, line} {}
};

/// Bytes and alignment of what a typed allocation holds; unknown for void.
template <class T>
constexpr std::size_t element_size() {
  if constexpr (std::is_void_v<T>) {
    return 0;
  } else {
    return sizeof(T);
  }
}
template <class T>
constexpr std::size_t element_alignment() {
  if constexpr (std::is_void_v<T>) {
    return 16;
  } else {
    return alignof(T);
  }
}

/// Where memory is allocated, and what for.
struct AllocationSite {
  Site site;
  std::size_t element_size;
  std::size_t alignment;
};

template <class T>
AllocationSite allocation_site(Site site) {
  return {site, element_size<T>(), element_alignment<T>()};
}

cudaError_t malloc_device(void** pointer, std::size_t bytes, AllocationSite site);
cudaError_t malloc_async(void** pointer, std::size_t bytes, cudaStream_t stream,
                         AllocationSite site);
cudaError_t malloc_managed(void** pointer, std::size_t bytes, unsigned flags, AllocationSite site);
cudaError_t malloc_pitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                         AllocationSite site);
cudaError_t host_alloc(void** pointer, std::size_t bytes, unsigned flags, const char* call,
                       AllocationSite site);
cudaError_t host_get_device_pointer(void** device, void* host, unsigned flags);

cudaError_t copy_to_symbol(const void* symbol, const void* source, std::size_t bytes,
                           std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream, bool async,
                           Site site);
cudaError_t copy_from_symbol(void* destination, const void* symbol, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream,
                             bool async, Site site);
cudaError_t symbol_address(void** address, const void* symbol, Site site);
cudaError_t symbol_size(std::size_t* size, const void* symbol, Site site);

cudaError_t func_get_attributes(cudaFuncAttributes* attributes, const void* function);
cudaError_t func_set_attribute(const void* function, cudaFuncAttribute attribute, int value);
cudaError_t func_set_cache_config(const void* function, cudaFuncCache config);
cudaError_t max_active_blocks(int* blocks, const void* function, int block_size,
                              std::size_t dynamic_bytes, unsigned flags);
cudaError_t available_dynamic_shared(std::size_t* bytes, const void* function, int blocks,
                                     int block_size);
/// Checks the pointers of an occupancy query and gives the largest block it may try.
cudaError_t block_size_limit(const int* min_grid_size, const int* block_size, const void* function,
                             int limit, unsigned flags, int* largest);
int multiprocessor_count();

/// Records the error of a call for cudaGetLastError and passes it on.
inline cudaError_t finish(int error) { return static_cast<cudaError_t>(record_error(error)); }

/// The address of a variable of any kind, the symbol itself and not what it points to.
template <class T>
const void* address_of(const volatile T& symbol) {
  return const_cast<const void*>(static_cast<const volatile void*>(__builtin_addressof(symbol)));
}

/// Any kernel's address, for the calls that take one as a key.
template <class Function>
const void* key_of(Function* function) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace cuda_cpu

// --- Errors ---

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

// --- Device ---

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags);
cudaError_t cudaSetDeviceFlags(unsigned int flags);
cudaError_t cudaGetDeviceFlags(unsigned int* flags);
cudaError_t cudaSetValidDevices(int* devices, int count);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);

// --- Memory ---

template <class T>
cudaError_t cudaMalloc(T** pointer, size_t bytes,
                       cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) {
  return cuda_cpu::malloc_device(reinterpret_cast<void**>(pointer), bytes,
                                 cuda_cpu::allocation_site<T>(site));
}

template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream,
                            cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) {
  return cuda_cpu::malloc_async(reinterpret_cast<void**>(pointer), bytes, stream,
                                cuda_cpu::allocation_site<T>(site));
}

template <class T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned int flags = cudaMemAttachGlobal,
                              cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) {
  return cuda_cpu::malloc_managed(reinterpret_cast<void**>(pointer), bytes, flags,
                                  cuda_cpu::allocation_site<T>(site));
}

template <class T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height,
                            cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) {
  return cuda_cpu::malloc_pitch(reinterpret_cast<void**>(pointer), pitch, width, height,
                                cuda_cpu::allocation_site<T>(site));
}

template <class T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned int flags = cudaHostAllocDefault,
                           cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) {
  return cuda_cpu::host_alloc(reinterpret_cast<void**>(pointer), bytes, flags, "cudaMallocHost",
                              cuda_cpu::allocation_site<T>(site));
}

template <class T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned int flags,
                          cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) {
  return cuda_cpu::host_alloc(reinterpret_cast<void**>(pointer), bytes, flags, "cudaHostAlloc",
                              cuda_cpu::allocation_site<T>(site));
}

template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
  return cuda_cpu::host_get_device_pointer(reinterpret_cast<void**>(device), host, flags);
}

cudaError_t cudaFree(cuda_cpu::Located<void*> pointer);
cudaError_t cudaFreeHost(cuda_cpu::Located<void*> pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream,
                          cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaHostGetFlags(unsigned int* flags, void* host);
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int flags,
                             cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaHostUnregister(cuda_cpu::Located<void*> pointer);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);

// --- Copies ---

cudaError_t cudaMemcpy(void* destination, const void* source, size_t bytes, cudaMemcpyKind kind,
                       cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMemcpyAsync(void* destination, const void* source, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream = nullptr,
                            cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMemcpy2D(void* destination, size_t destination_pitch, const void* source,
                         size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                         cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr,
                              cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMemset(void* pointer, int value, size_t bytes,
                       cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream = nullptr,
                            cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height,
                         cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream = nullptr,
                              cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});

template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* source, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                               cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) {
  return cuda_cpu::copy_to_symbol(cuda_cpu::address_of(symbol), source, bytes, offset, kind,
                                  nullptr, false, site);
}

template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* source, size_t bytes,
                                    size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr,
                                    cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) {
  return cuda_cpu::copy_to_symbol(cuda_cpu::address_of(symbol), source, bytes, offset, kind, stream,
                                  true, site);
}

template <class T>
cudaError_t cudaMemcpyFromSymbol(void* destination, const T& symbol, size_t bytes,
                                 size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                 cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) {
  return cuda_cpu::copy_from_symbol(destination, cuda_cpu::address_of(symbol), bytes, offset, kind,
                                    nullptr, false, site);
}

template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* destination, const T& symbol, size_t bytes,
                                      size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr,
                                      cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) {
  return cuda_cpu::copy_from_symbol(destination, cuda_cpu::address_of(symbol), bytes, offset, kind,
                                    stream, true, site);
}

template <class P, class T>
cudaError_t cudaGetSymbolAddress(P** address, const T& symbol,
                                 cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) {
  static_assert(std::is_void_v<P>,
                "cudaGetSymbolAddress takes a void**: cast the pointer's address");
  return cuda_cpu::symbol_address(reinterpret_cast<void**>(address), cuda_cpu::address_of(symbol),
                                  site);
}

template <class T>
cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol,
                              cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) {
  return cuda_cpu::symbol_size(size, cuda_cpu::address_of(symbol), site);
}

// --- Streams and events ---

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id);
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* user_data, unsigned int flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                     unsigned int flags = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

// --- Kernels ---

/// The launch without `<<<>>>`; `arguments` holds the address of each. The kernel is named as
/// itself, not as a void*: its type says how to read the arguments.
template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             size_t dynamic_bytes = 0, cudaStream_t stream = nullptr,
                             cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) {
  const char* const name = cuda_cpu::function_name(cuda_cpu::key_of(kernel), "cudaLaunchKernel");
  return cuda_cpu::finish(cuda_cpu::launch_function(
      cuda_cpu::LaunchConfig(grid, block, dynamic_bytes, stream),
      cuda_cpu::KernelSite{name, site.file, site.line}, false, kernel, arguments));
}

template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void** arguments, size_t dynamic_bytes = 0,
                                        cudaStream_t stream = nullptr,
                                        cuda_cpu::Site site = {__builtin_FILE(),
                                                               __builtin_LINE()}) {
  const char* const name =
      cuda_cpu::function_name(cuda_cpu::key_of(kernel), "cudaLaunchCooperativeKernel");
  return cuda_cpu::finish(cuda_cpu::launch_function(
      cuda_cpu::LaunchConfig(grid, block, dynamic_bytes, stream),
      cuda_cpu::KernelSite{name, site.file, site.line}, true, kernel, arguments));
}

#if defined(__has_attribute)
#if __has_attribute(error)
#define CUDA_CPU_NOT_A_KERNEL \
  __attribute__((error("the CPU backend needs the kernel itself here, not a void*")))
#endif
#endif
#if !defined(CUDA_CPU_NOT_A_KERNEL)
#define CUDA_CPU_NOT_A_KERNEL
#endif
// Declared to say why they are missing.
CUDA_CPU_NOT_A_KERNEL cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block,
                                                   void** arguments, size_t dynamic_bytes = 0,
                                                   cudaStream_t stream = nullptr);
CUDA_CPU_NOT_A_KERNEL cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid,
                                                              dim3 block, void** arguments,
                                                              size_t dynamic_bytes = 0,
                                                              cudaStream_t stream = nullptr);
#undef CUDA_CPU_NOT_A_KERNEL

template <class Function>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Function* function) {
  return cuda_cpu::func_get_attributes(attributes, cuda_cpu::key_of(function));
}

template <class Function>
cudaError_t cudaFuncSetAttribute(Function* function, cudaFuncAttribute attribute, int value) {
  return cuda_cpu::func_set_attribute(cuda_cpu::key_of(function), attribute, value);
}

template <class Function>
cudaError_t cudaFuncSetCacheConfig(Function* function, cudaFuncCache config) {
  return cuda_cpu::func_set_cache_config(cuda_cpu::key_of(function), config);
}

template <class Function>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Function* function,
                                                                   int block_size,
                                                                   size_t dynamic_bytes,
                                                                   unsigned int flags) {
  return cuda_cpu::max_active_blocks(blocks, cuda_cpu::key_of(function), block_size, dynamic_bytes,
                                     flags);
}

template <class Function>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* function,
                                                          int block_size, size_t dynamic_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, function, block_size, dynamic_bytes, cudaOccupancyDefault);
}

template <class Function>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, Function* function, int blocks,
                                                      int block_size) {
  return cuda_cpu::available_dynamic_shared(bytes, cuda_cpu::key_of(function), blocks, block_size);
}

/// Block size with which most threads are resident, and the grid that fills the device with it;
/// `bytes_of_block` gives the dynamic shared memory of a block of so many threads.
template <class BytesOfBlock, class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* min_grid_size, int* block_size, Function* function, BytesOfBlock bytes_of_block,
    int block_size_limit = 0, unsigned int flags = 0) {
  int largest = 0;
  const cudaError_t error = cuda_cpu::block_size_limit(
      min_grid_size, block_size, cuda_cpu::key_of(function), block_size_limit, flags, &largest);
  if (error != cudaSuccess) return error;
  int most_threads = 0;
  *min_grid_size = 0;
  *block_size = 0;
  for (int rounded = (largest + 31) / 32 * 32; rounded > 0; rounded -= 32) {
    const int threads = rounded < largest ? rounded : largest;
    int blocks = 0;
    const cudaError_t query = cuda_cpu::max_active_blocks(&blocks, cuda_cpu::key_of(function),
                                                          threads, bytes_of_block(threads), flags);
    if (query != cudaSuccess) return query;
    if (blocks * threads > most_threads) {
      most_threads = blocks * threads;
      *block_size = threads;
      *min_grid_size = blocks * cuda_cpu::multiprocessor_count();
    }
  }
  return cudaSuccess;
}

template <class BytesOfBlock, class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid_size, int* block_size,
                                                           Function* function,
                                                           BytesOfBlock bytes_of_block,
                                                           int block_size_limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
      min_grid_size, block_size, function, bytes_of_block, block_size_limit, cudaOccupancyDefault);
}

template <class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid_size, int* block_size,
                                                        Function* function,
                                                        size_t dynamic_bytes = 0,
                                                        int block_size_limit = 0,
                                                        unsigned int flags = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
      min_grid_size, block_size, function, [=](int) { return dynamic_bytes; }, block_size_limit,
      flags);
}

template <class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid_size, int* block_size,
                                               Function* function, size_t dynamic_bytes = 0,
                                               int block_size_limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(
      min_grid_size, block_size, function, dynamic_bytes, block_size_limit, cudaOccupancyDefault);
}
