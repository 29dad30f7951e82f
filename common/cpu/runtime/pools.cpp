// SPDX-License-Identifier: MIT
#include "pools.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <vector>

#include "../engine/state/device_limits.h"
#include "../report/diagnostics.h"
#include "../types/the_only.h"
#include "contexts.h"
#include "errors.h"

/// A cudaMemPool_t points to this. Handles of destroyed pools stay, so that none is given twice.
struct CUmemPoolHandle_st {
  std::uint64_t release_threshold = 0;
  std::uint64_t used = 0, most_used = 0;
  std::size_t limit = 0;  ///< 0: none
  int reuses[3] = {1, 1, 1};
  int device = 0;
  bool destroyed = false;
  cuda_cpu::Site destroyed_at{nullptr, 0};
};

namespace cuda_cpu {
namespace {

struct AllPools {
  std::mutex mutex;
  CUmemPoolHandle_st default_pools[kMaxDevices];
  cudaMemPool_t current[kMaxDevices];
  std::vector<cudaMemPool_t> created;

  AllPools() {
    for (int device = 0; device < kMaxDevices; ++device) begin_anew(device);
  }
  void begin_anew(int device) {
    default_pools[device] = CUmemPoolHandle_st{};
    default_pools[device].device = device;
    current[device] = &default_pools[device];
  }
};

// These two want the mutex to be held.
bool was_created(cudaMemPool_t pool) {
  const std::vector<cudaMemPool_t>& created = the_only<AllPools>().created;
  return std::find(created.begin(), created.end(), pool) != created.end();
}

bool exists(cudaMemPool_t pool) {
  const auto& defaults = the_only<AllPools>().default_pools;
  const bool is_default = std::any_of(std::begin(defaults), std::end(defaults),
                                      [&](const auto& one) { return &one == pool; });
  return is_default || (was_created(pool) && !pool->destroyed);
}

bool is_a_device(const cudaMemLocation& location) {
  return location.type == cudaMemLocationTypeDevice && is_device(location.id);
}

/// The number behind an attribute; nullptr for attributes of another type.
std::uint64_t* number_of(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return &pool->release_threshold;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      return &pool->used;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      return &pool->most_used;
    default:
      return nullptr;
  }
}

int* flag_of(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  const int position = static_cast<int>(attribute) - cudaMemPoolReuseFollowEventDependencies;
  return position >= 0 && position < 3 ? &pool->reuses[position] : nullptr;
}

int explain_destroyed(Site site, cudaMemPool_t pool) {
  return misuse(site, cudaErrorInvalidValue, "the memory pool was destroyed", {},
                {{pool->destroyed_at, "it was destroyed here"}});
}

cudaError_t give_pool(cudaMemPool_t* pool, int device, bool current) {
  CUDA_CPU_BEGIN_CALL();
  if (pool == nullptr) return finish(cudaErrorInvalidValue);
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  const auto [all, lock] = locked<AllPools>();
  *pool = current ? all.current[device] : &all.default_pools[device];
  return cudaSuccess;
}

}  // namespace

int check_pool(cudaMemPool_t* pool, std::size_t bytes, Site site) {
  const auto [all, lock] = locked<AllPools>();
  if (*pool == nullptr) *pool = all.current[current_device()];
  if (!exists(*pool)) {
    return was_created(*pool) ? explain_destroyed(site, *pool) : cudaErrorInvalidValue;
  }
  const bool fits = (*pool)->limit == 0 || bytes <= (*pool)->limit - (*pool)->used;
  return fits ? cudaSuccess : cudaErrorMemoryAllocation;
}

void take_from_pool(cudaMemPool_t pool, std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(the_only<AllPools>().mutex);
  pool->used += bytes;
  if (pool->most_used < pool->used) pool->most_used = pool->used;
}

void return_to_pool(cudaMemPool_t pool, std::size_t bytes) {
  if (pool == nullptr) return;
  const std::lock_guard<std::mutex> lock(the_only<AllPools>().mutex);
  pool->used -= bytes;
}

void forget_pools() {
  const auto [all, lock] = locked<AllPools>();
  for (cudaMemPool_t pool : all.created) {
    if (pool->device == current_device()) pool->destroyed = true;
  }
  all.begin_anew(current_device());
}

}  // namespace cuda_cpu

using namespace cuda_cpu;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return give_pool(pool, device, false);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return give_pool(pool, device, true);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  const auto [all, lock] = locked<AllPools>();
  if (!exists(pool) || pool->device != device) return finish(cudaErrorInvalidValue);
  all.current[device] = pool;
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties, Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (pool == nullptr || properties == nullptr) return finish(cudaErrorInvalidValue);
  const cudaMemLocation& location = properties->location;
  if (location.type == cudaMemLocationTypeDevice && !is_device(location.id)) {
    return finish(cudaErrorInvalidDevice);
  }
  if (properties->allocType != cudaMemAllocationTypePinned &&
      properties->allocType != cudaMemAllocationTypeManaged) {
    return finish(cudaErrorInvalidValue);
  }
  if (properties->allocType != cudaMemAllocationTypePinned ||
      properties->handleTypes != cudaMemHandleTypeNone || properties->usage != 0 ||
      !is_a_device(location)) {
    return finish(misuse(
        site, cudaErrorNotSupported, "cudaMemPoolCreate of a pool that is not supported",
        {"the CPU backend has pools of the device's own memory, without handles to share it"}));
  }
  const auto [all, lock] = locked<AllPools>();
  *pool = new CUmemPoolHandle_st;
  (*pool)->limit = properties->maxSize;
  (*pool)->device = location.id;
  all.created.push_back(*pool);
  return cudaSuccess;
}

/// What was taken from the pool stays until it is freed.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool, Site site) {
  CUDA_CPU_BEGIN_CALL();
  const auto [all, lock] = locked<AllPools>();
  if (!was_created(pool)) return finish(cudaErrorInvalidValue);
  if (pool->destroyed) return finish(explain_destroyed(site, pool));
  pool->destroyed = true;
  pool->destroyed_at = site;
  cudaMemPool_t& current = all.current[pool->device];
  if (current == pool) current = &all.default_pools[pool->device];
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  CUDA_CPU_BEGIN_CALL();
  const std::lock_guard<std::mutex> lock(the_only<AllPools>().mutex);
  if (!exists(pool) || value == nullptr) return finish(cudaErrorInvalidValue);
  if (int* const flag = flag_of(pool, attribute)) {
    *flag = *static_cast<const int*>(value) != 0;  // nothing is kept, so nothing is reused
    return cudaSuccess;
  }
  std::uint64_t* const number = number_of(pool, attribute);
  if (number == nullptr || number == &pool->used) return finish(cudaErrorInvalidValue);
  const auto wish = *static_cast<const std::uint64_t*>(value);
  const bool begins_anew = number == &pool->most_used;  // with 0 only
  if (begins_anew && wish != 0) return finish(cudaErrorInvalidValue);
  *number = begins_anew ? pool->used : wish;
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  CUDA_CPU_BEGIN_CALL();
  const std::lock_guard<std::mutex> lock(the_only<AllPools>().mutex);
  if (!exists(pool) || value == nullptr) return finish(cudaErrorInvalidValue);
  if (const int* const flag = flag_of(pool, attribute)) {
    *static_cast<int*>(value) = *flag;
    return cudaSuccess;
  }
  const std::uint64_t* const number = number_of(pool, attribute);
  if (number == nullptr) return finish(cudaErrorInvalidValue);
  *static_cast<std::uint64_t*>(value) = *number;
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  CUDA_CPU_BEGIN_CALL();
  const std::lock_guard<std::mutex> lock(the_only<AllPools>().mutex);
  return finish(exists(pool) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count) {
  CUDA_CPU_BEGIN_CALL();
  const std::lock_guard<std::mutex> lock(the_only<AllPools>().mutex);
  if (!exists(pool) || (list == nullptr && count > 0)) return finish(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) {
    if (!is_a_device(list[i].location)) return finish(cudaErrorInvalidDevice);
    const bool opens = list[i].flags == cudaMemAccessFlagsProtReadWrite;
    // A device cannot be kept from its own pool. Others reach it as peers.
    if (list[i].location.id != pool->device) return finish(cudaErrorNotSupported);
    if (!opens) return finish(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  CUDA_CPU_BEGIN_CALL();
  const std::lock_guard<std::mutex> lock(the_only<AllPools>().mutex);
  if (flags == nullptr || location == nullptr || !exists(pool)) {
    return finish(cudaErrorInvalidValue);
  }
  if (!is_a_device(*location)) return finish(cudaErrorInvalidDevice);
  *flags = (reachable_from(location->id) & only(pool->device)) != 0
               ? cudaMemAccessFlagsProtReadWrite
               : cudaMemAccessFlagsProtNone;
  return cudaSuccess;
}
