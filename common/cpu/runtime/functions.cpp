// SPDX-License-Identifier: MIT
#include "functions.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "../engine/memory/shared.h"
#include "../engine/state/device_limits.h"
#include "../engine/state/pages.h"
#include "../engine/state/settings.h"
#include "../report/diagnostics.h"
#include "../types/the_only.h"
#include "errors.h"

namespace cuda_cpu {
namespace {

constexpr int kThreadsPerBlock = static_cast<int>(kMaxThreadsPerBlock);

std::atomic<int> pretended{0};     // multiprocessors
std::atomic<bool> refused{false};  // launches

struct FunctionSettings {
  int dynamic_shared = static_cast<int>(kSharedPerBlock);
  int carveout = cudaSharedmemCarveoutDefault;
};

struct AllFunctions {
  std::mutex mutex;
  std::map<const void*, FunctionSettings> of;
};

FunctionSettings settings_of(const void* function) {
  const auto [all, lock] = locked<AllFunctions>();
  return all.of[function];
}

/// The shared memory of a multiprocessor, split as the kernel wishes: the smallest of the splits
/// that a GPU of compute capability 9.0 has which holds the wish, in per cent, and one block.
std::size_t shared_of_split(int carveout, std::size_t block_bytes) {
  if (carveout < 0) return kSharedPerWorker;
  const std::size_t wish = kSharedPerWorker * static_cast<std::size_t>(carveout) / 100;
  for (const std::size_t kib : {0, 8, 16, 32, 64, 100, 132, 164, 196}) {
    if (kib << 10 >= std::max(wish, block_bytes)) return kib << 10;
  }
  return kSharedPerWorker;
}

/// Warps are whole.
int blocks_by_threads(int block_size) {
  const unsigned warps = (static_cast<unsigned>(block_size) + kWarpSize - 1) / kWarpSize;
  return static_cast<int>(std::min(kMaxBlocksPerWorker, kMaxThreadsPerWorker / kWarpSize / warps));
}

}  // namespace

std::size_t dynamic_shared_limit(const void* function) {
  if (function == nullptr) return dynamic_shared_limit();
  return static_cast<std::size_t>(settings_of(function).dynamic_shared);
}

int resident_blocks(const void* function, int block_size, std::size_t dynamic_bytes) {
  const std::size_t shared = round_up(dynamic_bytes + kSharedReservedPerBlock, kSharedGranularity);
  const int carveout = function == nullptr ? -1 : settings_of(function).carveout;
  const std::size_t blocks = shared_of_split(carveout, shared) / shared;
  return std::min(blocks_by_threads(block_size), static_cast<int>(blocks));
}

int multiprocessor_count() {
  const int said = pretended;
  return said > 0 ? said : static_cast<int>(worker_count());
}

void pretend_multiprocessors(int count) { pretended = count; }

void refuse_launches(bool are_refused) { refused = are_refused; }
bool launches_are_refused() { return refused; }

cudaError_t block_size_limit(const int* min_grid_size, const int* block_size, const void* function,
                             int limit, int* largest) {
  CUDA_CPU_BEGIN_CALL();
  if (min_grid_size == nullptr || block_size == nullptr) return finish(cudaErrorInvalidValue);
  if (function == nullptr) return finish(cudaErrorInvalidDeviceFunction);
  *largest = limit > 0 ? std::min(limit, kThreadsPerBlock) : kThreadsPerBlock;
  return cudaSuccess;
}

}  // namespace cuda_cpu

using namespace cuda_cpu;

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, KernelKey function) {
  CUDA_CPU_BEGIN_CALL();
  if (attributes == nullptr) return finish(cudaErrorInvalidValue);
  if (function == nullptr) return finish(cudaErrorInvalidDeviceFunction);
  const FunctionSettings set = settings_of(function);
  *attributes = cudaFuncAttributes{};
  attributes->maxThreadsPerBlock = kThreadsPerBlock;
  attributes->numRegs = static_cast<int>(kRegistersPerThread);
  attributes->maxDynamicSharedSizeBytes = set.dynamic_shared;
  attributes->preferredShmemCarveout = set.carveout;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(KernelKey function, cudaFuncAttribute attribute, int value) {
  CUDA_CPU_BEGIN_CALL();
  if (function == nullptr) return finish(cudaErrorInvalidDeviceFunction);
  const auto [all, lock] = locked<AllFunctions>();
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || value > int{kSharedPerBlockOptIn}) return finish(cudaErrorInvalidValue);
    all.of[function].dynamic_shared = value;
    raise_dynamic_shared_limit(static_cast<std::size_t>(value));
    return cudaSuccess;
  }
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
    if (value < -1 || value > 100) return finish(cudaErrorInvalidValue);
    all.of[function].carveout = value;
    return cudaSuccess;
  }
  const bool is_of_clusters =
      attribute >= cudaFuncAttributeClusterDimMustBeSet && attribute < cudaFuncAttributeMax;
  return finish(is_of_clusters ? cudaErrorNotSupported : cudaErrorInvalidValue);
}

cudaError_t cudaFuncSetCacheConfig(KernelKey function, cudaFuncCache config) {
  CUDA_CPU_BEGIN_CALL();
  if (function == nullptr) return finish(cudaErrorInvalidDeviceFunction);
  const bool known = config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual;
  return finish(known ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, KernelKey function,
                                                          int block_size, size_t dynamic_bytes) {
  CUDA_CPU_BEGIN_CALL();
  if (blocks == nullptr || block_size <= 0) return finish(cudaErrorInvalidValue);
  if (function == nullptr) return finish(cudaErrorInvalidDeviceFunction);
  const bool can_run =
      block_size <= kThreadsPerBlock && dynamic_bytes <= dynamic_shared_limit(function);
  *blocks = can_run ? resident_blocks(function, block_size, dynamic_bytes) : 0;
  return cudaSuccess;
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, KernelKey function, int blocks,
                                                      int block_size) {
  CUDA_CPU_BEGIN_CALL();
  if (bytes == nullptr || blocks <= 0 || block_size <= 0 || block_size > kThreadsPerBlock ||
      blocks > blocks_by_threads(block_size)) {
    return finish(cudaErrorInvalidValue);
  }
  if (function == nullptr) return finish(cudaErrorInvalidDeviceFunction);
  const std::size_t share =
      kSharedPerWorker / static_cast<std::size_t>(blocks) / kSharedGranularity * kSharedGranularity;
  const std::size_t rest = share - std::min(share, kSharedReservedPerBlock);
  *bytes = std::min(rest, static_cast<std::size_t>(settings_of(function).dynamic_shared));
  return cudaSuccess;
}
