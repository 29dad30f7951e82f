// SPDX-License-Identifier: MIT
// Functions that device code calls out of line: clocks, the worker's number, its heap, traps,
// failed assertions, bounds of a launch.
#include "device_functions.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

#include "../../report/diagnostics.h"
#include "../../report/source_lines.h"
#include "../../types/error_codes.h"
#include "../../types/the_only.h"
#include "../memory/memory.h"
#include "../memory/memory_notes.h"
#include "../state/current.h"
#include "../state/leaving.h"
#include "../state/sanitizers.h"
#include "../state/settings.h"
#include "../state/worker.h"

namespace cuda_cpu {
namespace {

struct DeviceHeap {
  std::mutex mutex;
  std::size_t used = 0, blocks = 0;
};
// So many blocks have a guard page each; a process may not have many more pieces of memory.
constexpr std::size_t kGuardedBlocks = 8192;

[[noreturn]] void fail_assertion(const char* expression, const char* file, int line,
                                 const char* function) {
  if (!in_kernel()) {
    std::fprintf(stderr, "%s:%d: %s: Assertion `%s' failed.\n", file, line, function, expression);
    std::abort();
  }
  stop_grid(report_here(std::string("assertion '") + expression + "' failed", {file, line},
                        cudaErrorAssert));
}

}  // namespace

std::atomic<std::size_t> device_heap_bytes{std::size_t{8} << 20};

void* device_malloc(std::size_t bytes, Site site, const char* call) {
  const auto [heap, lock] = locked<DeviceHeap>();
  if (heap.used + bytes > device_heap_bytes) return nullptr;
  AllocationRequest request;
  request.size = bytes;
  request.device = current_worker->grid->launch->device;
  request.is_heap = true;
  request.call = call;
  request.allocated = site;
  const bool is_guarded = heap.blocks < kGuardedBlocks;
  void* const memory = is_guarded ? allocate(request) : std::malloc(bytes);
  if (memory == nullptr) return nullptr;
  request.base = reinterpret_cast<std::uintptr_t>(memory);
  if (!is_guarded) register_range(request);
  heap.used += bytes;
  ++heap.blocks;
  return memory;
}

void device_free(void* pointer, Site site, const void* caller) {
  if (pointer == nullptr) return;
  const auto base = reinterpret_cast<std::uintptr_t>(pointer);
  MemoryRange range;
  const bool is_known = find_range(pointer, &range, 0) && range.base == base && range.is_heap;
  if (!is_known || !range.live) {
    Report it =
        report_here(is_known ? "double free in device code" : "free in device code of other memory",
                    caller == nullptr ? site : source_site_of(caller), cudaErrorIllegalAddress);
    if (is_known) it.notes = notes_of(range);
    stop_grid(it);
  }
  Report damage;
  if (is_device_address(pointer) && slack_is_damaged(range, site, &damage)) {
    if (caller != nullptr) damage.site = source_site_of(caller);
    stop_grid(damage);
  }
  const auto [heap, lock] = locked<DeviceHeap>();
  heap.used -= range.size;
  --heap.blocks;
  if (is_device_address(pointer)) return release(base, site);
  unregister_range(base);
  std::free(pointer);
}

bool is_on_device_heap(const void* address) {
  MemoryRange range;
  return find_live_range(address, &range) && range.is_heap;
}

std::uint64_t global_timer_ns() {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(now.count());
}

unsigned sm_id() {
  // Workers are numbered in the order in which they first ask.
  static std::atomic<unsigned> next{0};
  static __thread unsigned mine = 0;  // plus one
  if (mine == 0) mine = next.fetch_add(1) % worker_count() + 1;
  return mine - 1;
}

void trap(const char* file, int line) {
  if (!in_kernel()) {
    std::fprintf(stderr, "%s:%d: __trap() called on the host\n", file, line);
    std::abort();
  }
  stop_grid(report_here("__trap() called", {file, line}, cudaErrorLaunchFailure));
}

void exceed_launch_bounds(long long most, const char* file, int line) {
  stop_grid(report_here(format("a block of %u threads, where __launch_bounds__ allows %lld",
                               current_block->count, most),
                        {file, line}, cudaErrorInvalidValue,  // as an H200 with CUDA 13.0
                        {"a GPU does not launch such a kernel"},
                        "launch smaller blocks, or raise the first number of __launch_bounds__"));
}

}  // namespace cuda_cpu

// What the C library's assert() calls when it fails. <assert.h> stays the library's own; the linker
// finds our function before the library's.
#if defined(__APPLE__)
extern "C" void __assert_rtn(const char* function, const char* file, int line,
                             const char* expression) {
  cuda_cpu::fail_assertion(expression, file, line, function);
}
#elif defined(__GLIBC__)
extern "C" void __assert_fail(const char* expression, const char* file, unsigned line,
                              const char* function) noexcept {
  cuda_cpu::fail_assertion(expression, file, static_cast<int>(line), function);
}
#else  // musl
extern "C" void __assert_fail(const char* expression, const char* file, int line,
                              const char* function) {
  cuda_cpu::fail_assertion(expression, file, line, function);
}
#endif

// ASan has a delete of its own, which knows what its new gave.
void* operator new(std::size_t bytes, cuda_cpu::Site site) noexcept {
  return cuda_cpu::kAsan ? ::operator new(bytes, std::nothrow)
                         : cuda_cpu::device_malloc(bytes, site, "new");
}
void* operator new[](std::size_t bytes, cuda_cpu::Site site) noexcept {
  return cuda_cpu::kAsan ? ::operator new[](bytes, std::nothrow)
                         : cuda_cpu::device_malloc(bytes, site, "new");
}

#if !defined(CUDA_CPU_ASAN)
// In place of the library's, which free as well; a program may have others. The call is the byte
// before where it returns to, which may be the next line's.
#define CUDA_CPU_DELETE(...)                                                        \
  __attribute__((weak)) void operator delete __VA_ARGS__ noexcept {                 \
    if (cuda_cpu::is_device_address(p) && cuda_cpu::in_kernel()) {                  \
      const void* const call = static_cast<char*>(__builtin_return_address(0)) - 1; \
      cuda_cpu::device_free(p, {"", 0}, call);                                      \
    } else {                                                                        \
      std::free(p);                                                                 \
    }                                                                               \
  }
CUDA_CPU_DELETE((void* p))
CUDA_CPU_DELETE([](void* p))
CUDA_CPU_DELETE((void* p, std::size_t))
CUDA_CPU_DELETE([](void* p, std::size_t))
#endif
