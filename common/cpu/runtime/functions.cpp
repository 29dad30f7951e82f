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
#include "errors.h"

namespace cuda_cpu {
namespace {

constexpr int kThreadsPerBlock = static_cast<int>(kMaxThreadsPerBlock);

std::atomic<int> pretended{0};  // multiprocessors

struct FunctionSettings {
  int dynamic_shared = static_cast<int>(kSharedPerBlock);
  int carveout = cudaSharedmemCarveoutDefault;
  LaunchByAddress launch = nullptr;
};

struct AllFunctions {
  std::mutex mutex;
  std::map<const void*, FunctionSettings> of;
};

AllFunctions& all_functions() {
  static AllFunctions* const s = new AllFunctions;
  return *s;
}

FunctionSettings settings_of(const void* function) {
  AllFunctions& all = all_functions();
  const std::lock_guard<std::mutex> lock(all.mutex);
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

void remember_kernel(const void* kernel, LaunchByAddress launch) {
  AllFunctions& all = all_functions();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.of[kernel].launch = launch;
}

LaunchConfig config_of(const LocatedConfig& located, int* error) {
  const cudaLaunchConfig_t* const asked = located.value;
  if (asked == nullptr || (asked->numAttrs > 0 && asked->attrs == nullptr)) {
    *error = cudaErrorInvalidValue;
    return {dim3(), dim3()};
  }
  LaunchConfig config(asked->gridDim, asked->blockDim, asked->dynamicSmemBytes, asked->stream);
  for (unsigned i = 0; i < asked->numAttrs; ++i) {
    const cudaLaunchAttributeValue& value = asked->attrs[i].val;
    switch (asked->attrs[i].id) {
      case cudaLaunchAttributeCooperative:
        config.cooperative = value.cooperative != 0;
        break;
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributePreferredSharedMemoryCarveout:
      case cudaLaunchAttributeProgrammaticStreamSerialization:  // one after the other is right, too
        break;
      case cudaLaunchAttributeClusterDimension:
        if (value.clusterDim.x == 1 && value.clusterDim.y == 1 && value.clusterDim.z == 1) break;
        *error = misuse(located.site, cudaErrorNotSupported,
                        "a launch in clusters of blocks is not supported");
        break;
      default:
        *error = misuse(
            located.site, cudaErrorNotSupported,
            format("launch attribute %d is not supported", static_cast<int>(asked->attrs[i].id)));
    }
  }
  return config;
}

cudaError_t launch_by_address(const LaunchConfig& config, const void* kernel, void** arguments,
                              const char* call, Site site) {
  CUDA_CPU_BEGIN_CALL();
  const LaunchByAddress launch = settings_of(kernel).launch;
  if (launch == nullptr) {
    return finish(misuse(site, cudaErrorInvalidDeviceFunction,
                         format("%s of an address that is not known as a kernel's", call),
                         {format("the address is %p", kernel)}, {},
                         "pass the kernel itself, or (void*)kernel"));
  }
  const LaunchedKernel launched{function_name(kernel, call), site.file, site.line};
  return finish(launch(config, launched, kernel, arguments));
}

cudaError_t block_size_limit(const int* min_grid_size, const int* block_size, const void* function,
                             int limit, unsigned flags, int* largest) {
  CUDA_CPU_BEGIN_CALL();
  if (min_grid_size == nullptr || block_size == nullptr ||
      (flags & ~unsigned{cudaOccupancyDisableCachingOverride}) != 0) {
    return finish(cudaErrorInvalidValue);
  }
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
  AllFunctions& all = all_functions();
  const std::lock_guard<std::mutex> lock(all.mutex);
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

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, KernelKey function,
                                                                   int block_size,
                                                                   size_t dynamic_bytes,
                                                                   unsigned int flags) {
  CUDA_CPU_BEGIN_CALL();
  if (blocks == nullptr || block_size <= 0 ||
      (flags & ~unsigned{cudaOccupancyDisableCachingOverride}) != 0) {
    return finish(cudaErrorInvalidValue);
  }
  if (function == nullptr) return finish(cudaErrorInvalidDeviceFunction);
  const bool can_run =
      block_size <= kThreadsPerBlock && dynamic_bytes <= dynamic_shared_limit(function);
  *blocks = can_run ? resident_blocks(function, block_size, dynamic_bytes) : 0;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, KernelKey function,
                                                          int block_size, size_t dynamic_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, function, block_size, dynamic_bytes, cudaOccupancyDefault);
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

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t dynamic_bytes, cudaStream_t stream, Site site) {
  return launch_by_address(LaunchConfig(grid, block, dynamic_bytes, stream), kernel, arguments,
                           "cudaLaunchKernel", site);
}

cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t dynamic_bytes, cudaStream_t stream, Site site) {
  LaunchConfig config(grid, block, dynamic_bytes, stream);
  config.cooperative = true;
  return launch_by_address(config, kernel, arguments, "cudaLaunchCooperativeKernel", site);
}

cudaError_t cudaLaunchKernelExC(LocatedConfig located, const void* kernel, void** arguments) {
  CUDA_CPU_BEGIN_CALL();
  int error = 0;
  const LaunchConfig config = config_of(located, &error);
  if (error != 0) return finish(error);
  return launch_by_address(config, kernel, arguments, "cudaLaunchKernelExC", located.site);
}
