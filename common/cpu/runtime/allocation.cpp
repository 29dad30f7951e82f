// SPDX-License-Identifier: MIT
// A wrong free returns cudaErrorInvalidValue as the toolkit does, and is explained in plain words.
#include "allocation.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "../engine/memory/memory_notes.h"
#include "../engine/state/device_limits.h"
#include "../engine/state/observer.h"
#include "../report/diagnostics.h"
#include "capture.h"
#include "contexts.h"
#include "errors.h"
#include "last_words.h"
#include "pools.h"
#include "work_queues.h"

namespace cuda_cpu {
namespace {

/// The call that frees such memory.
const char* right_free(Space space) {
  if (space == Space::kHostPinned) return "cudaFreeHost";
  return space == Space::kHostRegistered ? "cudaHostUnregister" : "cudaFree";
}

bool frees(const std::string& call, Space space) {
  const bool on_device = space == Space::kGlobal;
  return call == right_free(space) ||
         (on_device && (call == "cudaFreeAsync" || call == "cuMemFree"));
}

/// Explains why `pointer` cannot be freed with `call`. Returns cudaErrorInvalidValue.
int explain_free(const char* call, const void* pointer, Site site) {
  const int error = cudaErrorInvalidValue;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  MemoryRange range;
  if (!find_range(pointer, &range, 0) || address > range.end()) {
    return misuse(site, error, format("%s of memory that no CUDA call allocated", call),
                  {format("the address is %p", pointer)}, {},
                  "was it allocated with malloc or new, or is it the address of a variable?");
  }
  if (!range.live) {
    return misuse(site, error, format("double free with %s", call), {},
                  {origin_note(range), freed_note(range)},
                  site.line == range.freed.line
                      ? "in a destructor: each copy of the object frees what all of them name, a "
                        "kernel's parameter, too; pass the pointer, or forbid copies"
                      : "set the pointer to nullptr when its memory is freed");
  }
  if (*range.name != '\0') {
    return misuse(site, error, format("%s of the variable '%s'", call, range.name), {},
                  {origin_note(range)}, "variables are not freed; only allocations are");
  }
  if (range.is_heap || !frees(call, range.space)) {
    return misuse(site, error, format("%s of memory that %s allocated", call, range.call), {},
                  {origin_note(range)},
                  format("free it with %s",
                         range.is_heap ? "free or delete in a kernel" : right_free(range.space)));
  }
  return misuse(site, error, format("%s of a pointer into the middle of an allocation", call),
                {format("the address is byte %zu of %zu", address - range.base, range.size)},
                {origin_note(range)}, "pass the pointer that the allocation gave");
}

/// The live allocation that begins at `pointer` and that `call` frees.
bool find_freed(const char* call, const void* pointer, MemoryRange* range) {
  return find_live_range(pointer, range) &&
         range->base == reinterpret_cast<std::uintptr_t>(pointer) && *range->name == '\0' &&
         !range->is_heap && frees(call, range->space);
}

void give_back(const MemoryRange& range, Site site) {
  judge_transfers(range.base);
  release(range.base, site);
  return_to_pool(range.pool, range.size);
}

/// Gives the memory that `request` describes, but for what is named here.
int give(void** pointer, std::size_t bytes, Space space, const char* call,
         AllocationRequest request) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  request.size = bytes;
  request.space = space;
  request.call = call;
  if (request.pool == nullptr) {
    if (const int error = capture_rules.unsafe(call)) return error;
  }
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;  // the toolkit gives a null pointer as well
  request.context = context_rules.current();
  request.device = current_device();
  *pointer = allocate(request);
  return *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

bool is_of_host(const MemoryRange& range) {
  return range.space == Space::kHostPinned || range.space == Space::kHostRegistered;
}

bool is_managed(const void* pointer, std::size_t bytes) {
  MemoryRange range;
  return bytes != 0 && find_live_range(pointer, &range) && range.space == Space::kManaged &&
         bytes <= range.end() - reinterpret_cast<std::uintptr_t>(pointer);
}

/// The error of naming a place where no memory can be.
int check_location(const cudaMemLocation& location) {
  if (location.type == cudaMemLocationTypeDevice) {
    return is_device(location.id) ? cudaSuccess : cudaErrorInvalidDevice;
  }
  const bool host = location.type == cudaMemLocationTypeHost ||
                    location.type == cudaMemLocationTypeHostNuma ||
                    location.type == cudaMemLocationTypeHostNumaCurrent;
  return host ? cudaSuccess : cudaErrorInvalidValue;
}

/// How CUDA 12 names a place.
cudaMemLocation location_of(int device) {
  if (device == cudaCpuDeviceId) return {cudaMemLocationTypeHost, 0};
  return {cudaMemLocationTypeDevice, device};
}

}  // namespace

cudaError_t malloc_device(void** pointer, std::size_t bytes, AllocationRequest request,
                          const char* call) {
  CUDA_CPU_BEGIN_CALL();
  return finish(give(pointer, bytes, Space::kGlobal, call, request));
}

cudaError_t free_memory(const char* call, const Located<void*>& pointer) {
  CUDA_CPU_BEGIN_CALL();
  if (const int error = capture_rules.unsafe(call)) return finish(error);
  if (pointer.value == nullptr) return cudaSuccess;
  MemoryRange range;
  if (!find_freed(call, pointer.value, &range)) {
    return finish(explain_free(call, pointer.value, pointer.site));
  }
  // Like the toolkit's, it waits for the device first. What the host shares may be used by any.
  const bool is_of_one = range.space == Space::kGlobal;
  if (const int error = is_of_one ? run_device(range.device) : run_all_streams()) {
    return finish(error);
  }
  // Host code may write to other memory, too, so writes past its end are found only now.
  Report damage;
  if (!is_of_one && slack_is_damaged(range, pointer.site, &damage)) report(damage);
  give_back(range, pointer.site);
  return finish(sticky_error());
}

cudaError_t malloc_from_pool(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                             cudaStream_t stream, AllocationRequest request) {
  CUDA_CPU_BEGIN_CALL();
  if (find_stream(stream) == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (const int error = capture_rules.unsupported(stream, "cudaMallocAsync")) return finish(error);
  if (const int error = check_pool(&pool, bytes, request.allocated)) return finish(error);
  request.pool = pool;
  const int error = give(pointer, bytes, Space::kGlobal, "cudaMallocAsync", request);
  if (error == cudaSuccess && *pointer != nullptr) take_from_pool(pool, bytes);
  return finish(error);
}

cudaError_t malloc_managed(void** pointer, std::size_t bytes, unsigned flags,
                           AllocationRequest request) {
  CUDA_CPU_BEGIN_CALL();
  // The toolkit refuses an empty managed allocation, unlike an empty cudaMalloc.
  if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) {
    return finish(cudaErrorInvalidValue);
  }
  return finish(give(pointer, bytes, Space::kManaged, "cudaMallocManaged", request));
}

cudaError_t malloc_pitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                         AllocationRequest request, const char* call) {
  CUDA_CPU_BEGIN_CALL();
  if (pointer == nullptr || pitch == nullptr) return finish(cudaErrorInvalidValue);
  const std::size_t rows = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  if (rows < width || (height != 0 && rows > SIZE_MAX / height)) {
    return finish(cudaErrorMemoryAllocation);
  }
  *pitch = rows;
  request.alignment = std::max(request.alignment, kPitchAlignment);
  request.element_size = 0;  // rows are padded: a flat index says nothing
  request.row_bytes = width;
  request.pitch = rows;
  return finish(give(pointer, rows * height, Space::kGlobal, call, request));
}

cudaError_t host_alloc(void** pointer, std::size_t bytes, unsigned flags, const char* call,
                       AllocationRequest request) {
  CUDA_CPU_BEGIN_CALL();
  const unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if ((flags & ~known) != 0) return finish(cudaErrorInvalidValue);
  request.host_flags = flags;
  return finish(give(pointer, bytes, Space::kHostPinned, call, request));
}

cudaError_t host_get_device_pointer(void** device, void* host, unsigned flags) {
  CUDA_CPU_BEGIN_CALL();
  if (device == nullptr || flags != 0) return finish(cudaErrorInvalidValue);
  MemoryRange range;
  const bool known = find_live_range(host, &range) && is_of_host(range);
  *device = known ? host : nullptr;  // one address space
  return finish(known ? cudaSuccess : cudaErrorInvalidValue);
}

}  // namespace cuda_cpu

using namespace cuda_cpu;

cudaError_t cudaFree(Located<void*> pointer) { return free_memory("cudaFree", pointer); }

cudaError_t cudaFreeHost(Located<void*> pointer) { return free_memory("cudaFreeHost", pointer); }

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream, Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (pointer == nullptr) return cudaSuccess;
  if (const int error = capture_rules.unsupported(stream, "cudaFreeAsync")) return finish(error);
  MemoryRange range;
  if (!find_freed("cudaFreeAsync", pointer, &range)) {
    return finish(explain_free("cudaFreeAsync", pointer, site));
  }
  Work work;
  work.label = {"cudaFreeAsync", site};
  work.needs_device_memory = false;
  work.run = [range, pointer, site] {
    tell_of_range(pointer, range.size, true, "cudaFreeAsync", site);
    give_back(range, site);
    return 0;
  };
  return finish(submit(stream, std::move(work)));
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
  CUDA_CPU_BEGIN_CALL();
  MemoryRange range;
  if (flags == nullptr || !find_live_range(host, &range) || !is_of_host(range)) {
    return finish(cudaErrorInvalidValue);
  }
  *flags = range.host_flags | cudaHostAllocMapped;  // one address space: all of it is mapped
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int flags, Site site) {
  CUDA_CPU_BEGIN_CALL();
  const unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                         cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
  if (pointer == nullptr || bytes == 0 || (flags & ~known) != 0) {
    return finish(cudaErrorInvalidValue);
  }
  if ((flags & (cudaHostRegisterIoMemory | cudaHostRegisterReadOnly)) != 0) {
    return finish(cudaErrorNotSupported);
  }
  if (is_device_address(pointer)) return finish(cudaErrorInvalidValue);
  if (overlaps_range(pointer, bytes, Space::kHostRegistered) ||
      overlaps_range(pointer, bytes, Space::kHostPinned)) {
    return finish(cudaErrorHostMemoryAlreadyRegistered);
  }
  MemoryRange range;
  range.base = reinterpret_cast<std::uintptr_t>(pointer);
  range.size = bytes;
  range.space = Space::kHostRegistered;
  range.allocated = site;
  range.call = "cudaHostRegister";
  range.host_flags = flags;
  register_range(range);
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(Located<void*> pointer) {
  CUDA_CPU_BEGIN_CALL();
  if (const int error = capture_rules.unsafe("cudaHostUnregister")) return finish(error);
  MemoryRange range;
  if (!find_freed("cudaHostUnregister", pointer.value, &range)) {
    return finish(cudaErrorHostMemoryNotRegistered);
  }
  if (const int error = run_all_streams()) return finish(error);
  unregister_range(range.base);
  return cudaSuccess;
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream, Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (flags != 0 || !is_managed(pointer, bytes)) return finish(cudaErrorInvalidValue);
  if (const int error = check_location(location)) return finish(error);
  Work work;  // one memory: there is nothing to move, but it has its place in the order
  work.label = {"cudaMemPrefetchAsync", site};
  return finish(submit(stream, std::move(work)));
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device, cudaStream_t stream,
                                 Site site) {
  return cudaMemPrefetchAsync(pointer, bytes, location_of(device), 0, stream, site);
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_managed(pointer, bytes)) return finish(cudaErrorInvalidValue);
  switch (advice) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
    case cudaMemAdviseUnsetPreferredLocation:
      return cudaSuccess;  // the place does not matter
    case cudaMemAdviseSetPreferredLocation:
    case cudaMemAdviseSetAccessedBy:
    case cudaMemAdviseUnsetAccessedBy:
      return finish(check_location(location));
  }
  return finish(cudaErrorInvalidValue);
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise(pointer, bytes, advice, location_of(device));
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  CUDA_CPU_BEGIN_CALL();
  if (free == nullptr || total == nullptr) return finish(cudaErrorInvalidValue);
  *free = device_memory_free(current_device());
  *total = device_memory_total();
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  CUDA_CPU_BEGIN_CALL();
  if (attributes == nullptr) return finish(cudaErrorInvalidValue);
  auto* const address = const_cast<void*>(pointer);
  *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, address, {}};
  MemoryRange range;
  if (!find_live_range(pointer, &range)) return cudaSuccess;
  attributes->device = range.device;
  attributes->devicePointer = address;
  if (range.space == Space::kManaged) {
    attributes->type = cudaMemoryTypeManaged;
  } else if (is_of_host(range)) {
    attributes->type = cudaMemoryTypeHost;
  } else {
    attributes->type = cudaMemoryTypeDevice;
    attributes->hostPointer = nullptr;
  }
  return cudaSuccess;
}
