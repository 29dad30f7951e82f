// SPDX-License-Identifier: MIT
// Every piece of memory that the backend knows: device allocations between guard pages, host memory
// that kernels may use, symbols, shared arrays. Diagnostics (and X-ray) ask here what an address
// belongs to.
//
// An allocation, rounded up to 16 bytes, ends at a guard page, so an access that runs past it
// faults. (On a GPU it is rounded up to 256.) The few bytes that remain, and those before the
// allocation in its first page, hold 0xff like fresh memory and are checked after every kernel.
// Freed memory is handed out again as late as possible, so a use after free faults.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../types/site.h"
#include "memory_range.h"

namespace cuda_cpu {

struct Report;

/// Registers memory that the backend did not map itself (symbols, shared arrays of a worker).
void register_range(const MemoryRange& range);
void unregister_range(std::uintptr_t base);

/// The range that holds `address`, else the nearest one that ends before it or begins after it
/// within `reach` bytes. Returns false if there is none.
bool find_range(const void* address, MemoryRange* found, std::size_t reach = 1 << 20);

/// The live range that holds `address` (or begins there, when empty). Returns false if there is
/// none.
bool find_live_range(const void* address, MemoryRange* found);

/// The __device__, __constant__ or __managed__ variable of that name. Returns false if there is
/// none.
bool find_symbol_named(const char* name, MemoryRange* found);

/// True when a live range of `space` overlaps the range.
bool overlaps_range(const void* address, std::size_t bytes, Space space);

/// An allocation that is asked for, so that its base is not known. `alignment` beyond 16 for types
/// that need it.
struct AllocationRequest : MemoryRange {
  std::size_t alignment = 16;
};

/// Whether some allocation had padded rows.
inline bool rows_are_padded = false;

/// Device, managed or pinned memory filled with 0xff; nullptr when it does not fit.
void* allocate(const AllocationRequest& request);

/// Unmaps the allocation that begins at `base` and remembers it as freed.
void release(std::uintptr_t base, Site site);

/// Ends every allocation and registration (cudaDeviceReset).
void release_everything();

/// Ends every allocation of a context of a device, but for those from a pool, which belong to none.
void release_all_of(int device, const CUctx_st* context, Site site);

/// Bytes of a device's memory: all of it, and what is left.
std::size_t device_memory_total();
std::size_t device_memory_free(int device);

/// Device and managed memory that is allocated.
struct LeftMemory {
  std::size_t count = 0, bytes = 0;
  MemoryRange largest;
};
LeftMemory device_memory_left();

/// Calls `use` for what host and kernels share, of a type that may hold pointers.
void for_shared_holders_of_pointers(void (*use)(const MemoryRange& range));

/// True when `address` lies in the reserve that all device allocations come from.
bool is_device_address(const void* address);

/// True when `address` lies in the reserve of pinned and managed memory.
bool is_host_visible_address(const void* address);

/// True when host code and kernels may both use it: pinned, managed or registered.
bool is_shared_with_host(const void* address);

/// True when a kernel may be given this pointer: null, device, managed, pinned, registered, or a
/// symbol.
bool is_kernel_accessible(const void* address);

/// Some of the devices: a bit for each.
using DeviceSet = unsigned;
constexpr DeviceSet kAllDevices = ~0u;
constexpr DeviceSet only(int device) { return 1u << device; }

/// Device memory is inaccessible, to host code and to kernels of other devices, except between
/// these two (nestable; the inner one may open more).
void open_device_memory(DeviceSet devices = kAllDevices);
void close_device_memory();

/// Begins to keep which device memory nobody has written, of what is allocated from now on, or ends
/// it (unwritten.h).
void keep_unwritten_memory(bool on);

/// Opens the one allocation that holds `address`, for a copy; nothing when it is open or not device
/// memory.
class OpenAllocation {
 public:
  explicit OpenAllocation(const void* address);
  ~OpenAllocation();
  OpenAllocation(const OpenAllocation&) = delete;
  OpenAllocation& operator=(const OpenAllocation&) = delete;

 private:
  std::uintptr_t pages_ = 0;
};

/// After a kernel: checks the 0xff slack around every live device allocation. Prints a report and
/// returns the CUDA error code if something wrote there, else 0.
int check_slack(const LaunchedKernel& kernel);

/// Whether something wrote around this allocation, which is open and is freed at `site`; the report
/// says where.
bool slack_is_damaged(const MemoryRange& range, Site site, Report* report);

}  // namespace cuda_cpu
