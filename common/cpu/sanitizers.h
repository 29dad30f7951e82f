// SPDX-License-Identifier: MIT
// The fiber interfaces of AddressSanitizer and ThreadSanitizer. Without a sanitizer all of it is
// empty.
//
// ASan must know the bounds of the stack that runs. TSan sees every CUDA thread as a thread of its
// own, and no switch as synchronisation: only barriers, __syncwarp, launch and join order memory
// accesses.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(CUDA_CPU_ASAN)
extern "C" {
void __sanitizer_start_switch_fiber(void** fake_stack_save, const void* bottom, std::size_t size);
void __sanitizer_finish_switch_fiber(void* fake_stack_save, const void** bottom, std::size_t* size);
void __asan_unpoison_memory_region(const volatile void* address, std::size_t size);
}
#endif

#if defined(CUDA_CPU_TSAN)
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_set_fiber_name(void* fiber, const char* name);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void __tsan_read_range_pc(void* address, unsigned long bytes, void* pc);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
void AnnotateIgnoreSyncBegin(const char* file, int line);
void AnnotateIgnoreSyncEnd(const char* file, int line);
}
#endif

namespace cuda_cpu {

#if defined(CUDA_CPU_ASAN) || defined(CUDA_CPU_TSAN)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

#if defined(CUDA_CPU_TSAN)
/// While it lives, TSan takes no notice of what the running CUDA thread does: the backend's own
/// malloc, mmap, locks, which TSan sees although the backend is not instrumented.
class TsanBlindfold {
 public:
  TsanBlindfold() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
  }
  ~TsanBlindfold() {
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
  TsanBlindfold(const TsanBlindfold&) = delete;
  TsanBlindfold& operator=(const TsanBlindfold&) = delete;
};
#else
struct TsanBlindfold {
  TsanBlindfold() {}  // not trivial: an unused variable of this type is no warning
};
#endif

}  // namespace cuda_cpu
