// SPDX-License-Identifier: MIT
// Functions that device code calls out of line: clocks, the worker's number, its heap, traps,
// failed assertions, bounds of a launch.
#include "device_functions.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "../../report/diagnostics.h"
#include "../../types/error_codes.h"
#include "../state/current.h"
#include "../state/leaving.h"
#include "../state/settings.h"

namespace cuda_cpu {
namespace {

struct DeviceHeap {
  std::mutex mutex;
  std::map<std::uintptr_t, std::size_t> blocks;  // where each begins, and its bytes
  std::size_t used = 0;
};

// Never destroyed, like all memory of the backend.
DeviceHeap& device_heap() {
  static DeviceHeap* const heap = new DeviceHeap;
  return *heap;
}

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

void* device_malloc(std::size_t bytes) {
  DeviceHeap& heap = device_heap();
  const std::lock_guard<std::mutex> lock(heap.mutex);
  if (heap.used + bytes > device_heap_bytes) return nullptr;
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) return nullptr;
  heap.blocks[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
  heap.used += bytes;
  return memory;
}

void device_free(void* pointer) {
  DeviceHeap& heap = device_heap();
  const std::lock_guard<std::mutex> lock(heap.mutex);
  const auto block = heap.blocks.extract(reinterpret_cast<std::uintptr_t>(pointer));
  if (!block.empty()) heap.used -= block.mapped();
  std::free(pointer);
}

bool is_on_device_heap(const void* address) {
  DeviceHeap& heap = device_heap();
  const std::lock_guard<std::mutex> lock(heap.mutex);
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const auto behind = heap.blocks.upper_bound(a);
  if (behind == heap.blocks.begin()) return false;
  const auto& [begin, bytes] = *std::prev(behind);
  return a - begin < bytes;
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
