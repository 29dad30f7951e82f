// SPDX-License-Identifier: MIT
// Properties of a kernel that a program may read and set, occupancy, and the launch without
// `<<<>>>`.
#pragma once

#include <cstddef>

#include "../report/program_image.h"
#include "errors.h"
#include "launch.h"
#include "types.h"

namespace cuda_cpu {

/// Dynamic shared memory that a kernel may be launched with; `function` is nullptr where a launch
/// does not know its kernel.
std::size_t dynamic_shared_limit(const void* function);

/// Any kernel's address, for calls that take it as a key.
struct KernelKey {
  const void* address;

  template <class Function>
  KernelKey(Function* function) : address(reinterpret_cast<const void*>(function)) {}
  operator const void*() const { return address; }
};

/// Checks the pointers of an occupancy query and gives the largest block it may try.
cudaError_t block_size_limit(const int* min_grid_size, const int* block_size, const void* function,
                             int limit, unsigned flags, int* largest);
/// How many such blocks are resident on a multiprocessor, by their threads and shared memory;
/// `function` is nullptr where a launch does not know its kernel.
int resident_blocks(const void* function, int block_size, std::size_t dynamic_bytes);
int multiprocessor_count();

/// For tests: what the device says that it has, from now on. 0: what it has.
void pretend_multiprocessors(int count);

/// Launches a kernel of a certain type by its address.
using LaunchByAddress = int (*)(const LaunchConfig& config, const LaunchedKernel& launched,
                                const void* kernel, void** arguments);
void remember_kernel(const void* kernel, LaunchByAddress launch);
/// Launches a kernel whose type was remembered; `call` is the name for reports.
cudaError_t launch_by_address(const LaunchConfig& config, const void* kernel, void** arguments,
                              const char* call, Site site);

/// Emitted by the pre-pass where a kernel is cast to void*: notes how it is launched.
template <class... Parameters>
void* kernel_address(void (*kernel)(Parameters...)) {
  void* const address = reinterpret_cast<void*>(kernel);
  remember_kernel(address, [](const LaunchConfig& config, const LaunchedKernel& launched,
                              const void* same, void** arguments) {
    const auto typed = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(same));
    return launch_function(config, launched, typed, arguments,
                           std::index_sequence_for<Parameters...>{});
  });
  return address;
}
/// For a name that was not a kernel's after all.
template <class T>
void* kernel_address(T* pointer) {
  return (void*)pointer;
}

}  // namespace cuda_cpu

/// The launches without `<<<>>>`; `arguments` holds the address of each. By an address alone they
/// find what the pre-pass made `(void*)kernel` tell: the kernel's type, which says how to read the
/// arguments.
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t dynamic_bytes = 0, cudaStream_t stream = nullptr,
                             cuda_cpu::Site site = cuda_cpu::here());
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t dynamic_bytes = 0, cudaStream_t stream = nullptr,
                                        cuda_cpu::Site site = cuda_cpu::here());

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             size_t dynamic_bytes = 0, cudaStream_t stream = nullptr,
                             cuda_cpu::Site site = cuda_cpu::here()) {
  return cudaLaunchKernel(cuda_cpu::kernel_address(kernel), grid, block, arguments, dynamic_bytes,
                          stream, site);
}

template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void** arguments, size_t dynamic_bytes = 0,
                                        cudaStream_t stream = nullptr,
                                        cuda_cpu::Site site = cuda_cpu::here()) {
  return cudaLaunchCooperativeKernel(cuda_cpu::kernel_address(kernel), grid, block, arguments,
                                     dynamic_bytes, stream, site);
}

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned int numAttrs;
};

namespace cuda_cpu {

using LocatedConfig = Located<const cudaLaunchConfig_t*>;

/// What the structure asks for. *error is set if it cannot be read, or its attributes ask for
/// something that is not supported, which is reported.
LaunchConfig config_of(const LocatedConfig& located, int* error);

/// A call with its own arguments, which the kernel's parameters convert.
template <class... Parameters>
int launch_call(const LaunchConfig& config, const LaunchedKernel& launched,
                void (*kernel)(Parameters...), std::decay_t<Parameters>... arguments) {
  return enqueue_call(config, launched, reinterpret_cast<const void*>(kernel), kernel,
                      std::move(arguments)...);
}

}  // namespace cuda_cpu

/// The launch with attributes. Those that only say how fast it may go are taken; clusters and
/// events within a launch are refused.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(cuda_cpu::LocatedConfig located, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  int error = 0;
  const cuda_cpu::LaunchConfig config = cuda_cpu::config_of(located, &error);
  if (error != 0) return cuda_cpu::finish(error);
  const char* const name =
      cuda_cpu::function_name(cuda_cpu::KernelKey(kernel), "cudaLaunchKernelEx");
  return cuda_cpu::finish(cuda_cpu::launch_call(
      config, cuda_cpu::LaunchedKernel{name, located.site.file, located.site.line}, kernel,
      std::forward<Arguments>(arguments)...));
}

cudaError_t cudaLaunchKernelExC(cuda_cpu::LocatedConfig located, const void* kernel,
                                void** arguments);

template <class... Parameters>
cudaError_t cudaLaunchKernelExC(cuda_cpu::LocatedConfig located, void (*kernel)(Parameters...),
                                void** arguments) {
  return cudaLaunchKernelExC(located, cuda_cpu::kernel_address(kernel), arguments);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, cuda_cpu::KernelKey function);
cudaError_t cudaFuncSetAttribute(cuda_cpu::KernelKey function, cudaFuncAttribute attribute,
                                 int value);
cudaError_t cudaFuncSetCacheConfig(cuda_cpu::KernelKey function, cudaFuncCache config);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, cuda_cpu::KernelKey function,
                                                          int block_size, size_t dynamic_bytes);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   cuda_cpu::KernelKey function,
                                                                   int block_size,
                                                                   size_t dynamic_bytes,
                                                                   unsigned int flags);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, cuda_cpu::KernelKey function,
                                                      int blocks, int block_size);

/// The block size with which most threads are resident, and the grid that fills the device with
/// such blocks. `bytes_of_block` gives the dynamic shared memory of a block with that many threads.
template <class BytesOfBlock>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* min_grid_size, int* block_size, cuda_cpu::KernelKey function, BytesOfBlock bytes_of_block,
    int block_size_limit = 0, unsigned int flags = 0) {
  int largest = 0;
  const cudaError_t error = cuda_cpu::block_size_limit(min_grid_size, block_size, function,
                                                       block_size_limit, flags, &largest);
  if (error != cudaSuccess) return error;
  int most_threads = 0;
  *min_grid_size = 0;
  *block_size = 0;
  for (int rounded = (largest + 31) / 32 * 32; rounded > 0; rounded -= 32) {
    const int threads = rounded < largest ? rounded : largest;
    int blocks = 0;
    const cudaError_t query = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, function, threads, bytes_of_block(threads), flags);
    if (query != cudaSuccess) return query;
    if (blocks * threads > most_threads) {
      most_threads = blocks * threads;
      *block_size = threads;
      *min_grid_size = blocks * cuda_cpu::multiprocessor_count();
    }
  }
  return cudaSuccess;
}

template <class BytesOfBlock>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid_size, int* block_size,
                                                           cuda_cpu::KernelKey function,
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
