// SPDX-License-Identifier: MIT
// Properties of a kernel that a program may read and set, and occupancy.
#pragma once

#include <cstddef>

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
                             int limit, int* largest);
/// How many such blocks are resident on a multiprocessor, by their threads and shared memory;
/// `function` is nullptr where a launch does not know its kernel.
int resident_blocks(const void* function, int block_size, std::size_t dynamic_bytes);
int multiprocessor_count();

/// For tests: what the device says that it has, from now on. 0: what it has.
void pretend_multiprocessors(int count);
/// For tests: whether launches are refused from now on, as if there were no registers for them.
void refuse_launches(bool are_refused);
bool launches_are_refused();

}  // namespace cuda_cpu

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, cuda_cpu::KernelKey function);
cudaError_t cudaFuncSetAttribute(cuda_cpu::KernelKey function, cudaFuncAttribute attribute,
                                 int value);
cudaError_t cudaFuncSetCacheConfig(cuda_cpu::KernelKey function, cudaFuncCache config);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, cuda_cpu::KernelKey function,
                                                          int block_size, size_t dynamic_bytes);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, cuda_cpu::KernelKey function,
                                                      int blocks, int block_size);

/// The block size with which most threads are resident, and the grid that fills the device with
/// such blocks. `bytes_of_block` gives the dynamic shared memory of a block with that many threads.
template <class BytesOfBlock>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid_size, int* block_size,
                                                           cuda_cpu::KernelKey function,
                                                           BytesOfBlock bytes_of_block,
                                                           int block_size_limit = 0) {
  int largest = 0;
  const cudaError_t error =
      cuda_cpu::block_size_limit(min_grid_size, block_size, function, block_size_limit, &largest);
  if (error != cudaSuccess) return error;
  int most_threads = 0;
  *min_grid_size = 0;
  *block_size = 0;
  for (int rounded = (largest + 31) / 32 * 32; rounded > 0; rounded -= 32) {
    const int threads = rounded < largest ? rounded : largest;
    int blocks = 0;
    const cudaError_t query = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, function, threads, bytes_of_block(threads));
    if (query != cudaSuccess) return query;
    if (blocks * threads > most_threads) {
      most_threads = blocks * threads;
      *block_size = threads;
      *min_grid_size = blocks * cuda_cpu::multiprocessor_count();
    }
  }
  return cudaSuccess;
}

template <class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid_size, int* block_size,
                                               Function* function, size_t dynamic_bytes = 0,
                                               int block_size_limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      min_grid_size, block_size, function, [=](int) { return dynamic_bytes; }, block_size_limit);
}
