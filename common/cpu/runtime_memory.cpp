// SPDX-License-Identifier: MIT
// Allocation: device, managed and pinned memory, registered host memory, and what an address is.
//
// A wrong free returns cudaErrorInvalidValue as the toolkit does, and is explained in plain words.
#include <algorithm>
#include <string>

#include "memory.h"
#include "region_notes.h"
#include "runtime_call.h"
#include "streams.h"

namespace cuda_cpu {
namespace {

/// The call that frees what `region` holds.
const char* right_free(const Region& region) {
  switch (region.space) {
    case Space::kHostPinned:
      return "cudaFreeHost";
    case Space::kHostRegistered:
      return "cudaHostUnregister";
    default:
      return "cudaFree";
  }
}

bool frees(const std::string& call, Space space) {
  if (call == "cudaFreeHost") return space == Space::kHostPinned;
  if (call == "cudaFreeAsync") return space == Space::kGlobal;
  return space == Space::kGlobal || space == Space::kManaged;
}

/// Explains why `pointer` cannot be freed with `call`. Returns cudaErrorInvalidValue.
int explain_free(const char* call, const void* pointer, Site site) {
  const int error = cudaErrorInvalidValue;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  Region region;
  const bool known = find_region(pointer, &region, 0);
  if (!known || address > region.end()) {
    return explain_misuse(
        site, error, format("%s of memory that no CUDA call allocated", call),
        {format("the address is %p", pointer)}, {},
        "was it allocated with malloc or new, or is it the address of a variable?");
  }
  if (!region.live) {
    return explain_misuse(site, error, format("double free with %s", call), {},
                          {origin_note(region), freed_note(region)},
                          "set the pointer to nullptr when its memory is freed");
  }
  if (*region.name != '\0') {
    return explain_misuse(site, error, format("%s of the variable '%s'", call, region.name), {},
                          {origin_note(region)}, "variables are not freed; only allocations are");
  }
  if (!frees(call, region.space)) {
    return explain_misuse(site, error, format("%s of memory that %s allocated", call, region.call),
                          {}, {origin_note(region)}, format("free it with %s", right_free(region)));
  }
  return explain_misuse(
      site, error, format("%s of a pointer into the middle of an allocation", call),
      {format("the address is byte %zu of %zu", address - region.base, region.size)},
      {origin_note(region)}, "pass the pointer that the allocation gave");
}

/// The live allocation that begins at `pointer`.
bool find_allocation(const void* pointer, Region* region) {
  return find_live_region(pointer, region) &&
         region->base == reinterpret_cast<std::uintptr_t>(pointer) && *region->name == '\0';
}

/// Writes past the end of memory that host code may write too are found when it is freed.
void look_at_slack(const Region& region, Site site) {
  const char* where = "";
  if (region.space == Space::kGlobal || !slack_is_damaged(region.base, &where)) return;
  Report it;
  it.headline =
      format("something wrote %s memory from %s, found when it was freed", where, region.call);
  it.site = site;
  it.details.push_back(format("the allocation has %zu bytes", region.size));
  it.notes.push_back(origin_note(region));
  it.help = "make sanitize BACKEND=cpu names the line that wrote";
  it.cuda_error = cudaErrorIllegalAddress;
  report(it);
}

int give(void** pointer, const Allocation& allocation) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (allocation.bytes == 0) return cudaSuccess;  // the toolkit gives a null pointer, too
  *pointer = allocate(allocation);
  return *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

Allocation allocation_of(std::size_t bytes, Space space, const char* call,
                         const AllocationSite& site) {
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.space = space;
  allocation.call = call;
  allocation.site = site.site;
  allocation.element_size = site.element_size;
  allocation.alignment = site.alignment;
  return allocation;
}

}  // namespace

cudaError_t malloc_device(void** pointer, std::size_t bytes, AllocationSite site) {
  CUDA_CPU_BEGIN_CALL();
  return finish(give(pointer, allocation_of(bytes, Space::kGlobal, "cudaMalloc", site)));
}

cudaError_t malloc_async(void** pointer, std::size_t bytes, cudaStream_t stream,
                         AllocationSite site) {
  CUDA_CPU_BEGIN_CALL();
  if (find_stream(stream) == nullptr) return finish(cudaErrorInvalidResourceHandle);
  return finish(give(pointer, allocation_of(bytes, Space::kGlobal, "cudaMallocAsync", site)));
}

cudaError_t malloc_managed(void** pointer, std::size_t bytes, unsigned flags, AllocationSite site) {
  CUDA_CPU_BEGIN_CALL();
  // The toolkit refuses an empty managed allocation, unlike an empty cudaMalloc.
  if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) {
    return finish(cudaErrorInvalidValue);
  }
  return finish(give(pointer, allocation_of(bytes, Space::kManaged, "cudaMallocManaged", site)));
}

cudaError_t malloc_pitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                         AllocationSite site) {
  CUDA_CPU_BEGIN_CALL();
  if (pointer == nullptr || pitch == nullptr) return finish(cudaErrorInvalidValue);
  const std::size_t rows = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  if (rows < width || (height != 0 && rows > SIZE_MAX / height)) {
    return finish(cudaErrorMemoryAllocation);
  }
  *pitch = rows;
  Allocation allocation = allocation_of(rows * height, Space::kGlobal, "cudaMallocPitch", site);
  allocation.alignment = std::max(allocation.alignment, kPitchAlignment);
  allocation.element_size = 0;  // rows are padded: a flat index says nothing
  return finish(give(pointer, allocation));
}

cudaError_t host_alloc(void** pointer, std::size_t bytes, unsigned flags, const char* call,
                       AllocationSite site) {
  CUDA_CPU_BEGIN_CALL();
  const unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if ((flags & ~known) != 0) return finish(cudaErrorInvalidValue);
  Allocation allocation = allocation_of(bytes, Space::kHostPinned, call, site);
  allocation.host_flags = flags;
  return finish(give(pointer, allocation));
}

cudaError_t host_get_device_pointer(void** device, void* host, unsigned flags) {
  CUDA_CPU_BEGIN_CALL();
  if (device == nullptr || flags != 0) return finish(cudaErrorInvalidValue);
  Region region;
  const bool known = find_live_region(host, &region) &&
                     (region.space == Space::kHostPinned || region.space == Space::kHostRegistered);
  if (!known) {
    *device = nullptr;
    return finish(cudaErrorInvalidValue);
  }
  *device = host;  // one address space
  return cudaSuccess;
}

}  // namespace cuda_cpu

using cuda_cpu::finish;
using cuda_cpu::Region;
using cuda_cpu::Space;

cudaError_t cudaFree(cuda_cpu::Located<void*> pointer) {
  CUDA_CPU_BEGIN_CALL();
  if (pointer.value == nullptr) return cudaSuccess;
  Region region;
  if (!cuda_cpu::find_allocation(pointer.value, &region) ||
      (region.space != Space::kGlobal && region.space != Space::kManaged)) {
    return finish(cuda_cpu::explain_free("cudaFree", pointer.value, pointer.site));
  }
  // Like the toolkit's: waits for the device first.
  if (const int error = cuda_cpu::run_all_streams()) return finish(error);
  cuda_cpu::look_at_slack(region, pointer.site);
  cuda_cpu::release(region.base, pointer.site);
  return finish(cuda_cpu::sticky_error());
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream, cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (pointer == nullptr) return cudaSuccess;
  Region region;
  if (!cuda_cpu::find_allocation(pointer, &region) || region.space != Space::kGlobal) {
    return finish(cuda_cpu::explain_free("cudaFreeAsync", pointer, site));
  }
  cuda_cpu::Work work;
  work.label = {"cudaFreeAsync", site};
  work.needs_device_memory = false;
  work.run = [base = region.base, site] {
    cuda_cpu::release(base, site);
    return 0;
  };
  return finish(cuda_cpu::submit(stream, std::move(work)));
}

cudaError_t cudaFreeHost(cuda_cpu::Located<void*> pointer) {
  CUDA_CPU_BEGIN_CALL();
  if (pointer.value == nullptr) return cudaSuccess;
  Region region;
  if (!cuda_cpu::find_allocation(pointer.value, &region) || region.space != Space::kHostPinned) {
    return finish(cuda_cpu::explain_free("cudaFreeHost", pointer.value, pointer.site));
  }
  if (const int error = cuda_cpu::run_all_streams()) return finish(error);
  cuda_cpu::look_at_slack(region, pointer.site);
  cuda_cpu::release(region.base, pointer.site);
  return finish(cuda_cpu::sticky_error());
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
  CUDA_CPU_BEGIN_CALL();
  Region region;
  if (flags == nullptr || !cuda_cpu::find_live_region(host, &region) ||
      region.space != Space::kHostPinned) {
    return finish(cudaErrorInvalidValue);
  }
  *flags = region.host_flags;
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int flags, cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  const unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                         cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
  if (pointer == nullptr || bytes == 0 || (flags & ~known) != 0) {
    return finish(cudaErrorInvalidValue);
  }
  if ((flags & (cudaHostRegisterIoMemory | cudaHostRegisterReadOnly)) != 0) {
    return finish(cudaErrorNotSupported);
  }
  if (cuda_cpu::is_device_address(pointer)) return finish(cudaErrorInvalidValue);
  if (cuda_cpu::overlaps_region(pointer, bytes, Space::kHostRegistered) ||
      cuda_cpu::overlaps_region(pointer, bytes, Space::kHostPinned)) {
    return finish(cudaErrorHostMemoryAlreadyRegistered);
  }
  Region region;
  region.base = reinterpret_cast<std::uintptr_t>(pointer);
  region.size = bytes;
  region.space = Space::kHostRegistered;
  region.allocated = site;
  region.call = "cudaHostRegister";
  region.host_flags = flags;
  cuda_cpu::register_region(region);
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(cuda_cpu::Located<void*> pointer) {
  CUDA_CPU_BEGIN_CALL();
  Region region;
  if (!cuda_cpu::find_live_region(pointer.value, &region) ||
      region.space != Space::kHostRegistered ||
      region.base != reinterpret_cast<std::uintptr_t>(pointer.value)) {
    return finish(cudaErrorHostMemoryNotRegistered);
  }
  if (const int error = cuda_cpu::run_all_streams()) return finish(error);
  cuda_cpu::unregister_region(region.base);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  CUDA_CPU_BEGIN_CALL();
  if (free == nullptr || total == nullptr) return finish(cudaErrorInvalidValue);
  *free = cuda_cpu::device_memory_free();
  *total = cuda_cpu::device_memory_total();
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  CUDA_CPU_BEGIN_CALL();
  if (attributes == nullptr) return finish(cudaErrorInvalidValue);
  *attributes = cudaPointerAttributes{};
  attributes->type = cudaMemoryTypeUnregistered;
  attributes->device = cudaInvalidDeviceId;
  auto* const address = const_cast<void*>(pointer);
  attributes->hostPointer = address;
  Region region;
  if (!cuda_cpu::find_live_region(pointer, &region)) return cudaSuccess;
  attributes->device = 0;
  attributes->devicePointer = address;
  switch (region.space) {
    case Space::kManaged:
      attributes->type = cudaMemoryTypeManaged;
      break;
    case Space::kHostPinned:
    case Space::kHostRegistered:
      attributes->type = cudaMemoryTypeHost;
      break;
    default:
      attributes->type = cudaMemoryTypeDevice;
      attributes->hostPointer = nullptr;
  }
  return cudaSuccess;
}
