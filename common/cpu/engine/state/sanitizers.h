// SPDX-License-Identifier: MIT
// Tells AddressSanitizer and ThreadSanitizer what goes on. Without a sanitizer all of it is empty.
//
// ASan must know the bounds of the stack that runs. TSan sees every CUDA thread as a thread of its
// own (a fiber), and no switch as synchronisation: only barriers, __syncwarp, launch and join order
// memory accesses.
#pragma once

#include <cstddef>

#if defined(CUDA_CPU_ASAN)
#include <sanitizer/asan_interface.h>
#define CUDA_CPU_NOT_SEEN_BY_ASAN __attribute__((no_sanitize("address")))
#else
#define CUDA_CPU_NOT_SEEN_BY_ASAN
#endif

#if defined(CUDA_CPU_TSAN)
#include <sanitizer/tsan_interface.h>
extern "C" {
void __tsan_read_range_pc(void* address, unsigned long bytes, void* pc);
void __tsan_write_range_pc(void* address, unsigned long bytes, void* pc);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
void AnnotateIgnoreSyncBegin(const char* file, int line);
void AnnotateIgnoreSyncEnd(const char* file, int line);
}
#endif

namespace cuda_cpu {

#if defined(CUDA_CPU_ASAN)
constexpr bool kAsan = true;

/// The running stack is about to be left for the one given; arrive() on this stack, when it goes
/// on, takes what was saved. `saved` is null for a stack that does not go on.
inline void asan_leave(void** saved, const void* bottom, std::size_t size) {
  __sanitizer_start_switch_fiber(saved, bottom, size);
}
/// On a new stack nothing was saved. Tells the stack that was left to who asks.
inline void asan_arrive(void* saved, const void** bottom = nullptr, std::size_t* size = nullptr) {
  __sanitizer_finish_switch_fiber(saved, bottom, size);
}
inline void asan_poison(void* address, std::size_t bytes) {
  __asan_poison_memory_region(address, bytes);
}
inline void asan_unpoison(void* address, std::size_t bytes) {
  __asan_unpoison_memory_region(address, bytes);
}
#else
constexpr bool kAsan = false;
inline void asan_leave(void**, const void*, std::size_t) {}
inline void asan_arrive(void*, const void** = nullptr, std::size_t* = nullptr) {}
inline void asan_poison(void*, std::size_t) {}
inline void asan_unpoison(void*, std::size_t) {}
#endif

#if defined(CUDA_CPU_TSAN)
constexpr bool kTsan = true;

inline void* tsan_running_fiber() { return __tsan_get_current_fiber(); }
inline void* tsan_new_fiber() { return __tsan_create_fiber(0); }
inline void tsan_destroy_fiber(void* fiber) { __tsan_destroy_fiber(fiber); }
/// From here on the running code belongs to that fiber. This synchronises nothing.
inline void tsan_switch(void* fiber) { __tsan_switch_to_fiber(fiber, 1); }
/// Whatever comes before a release of an object happens before whatever follows an acquire of it.
inline void tsan_acquire(void* object) { __tsan_acquire(object); }
inline void tsan_release(void* object) { __tsan_release(object); }
/// A read or write by the code at `pc`.
inline void tsan_read(const void* address, std::size_t bytes, void* pc) {
  __tsan_read_range_pc(const_cast<void*>(address), bytes, pc);
}
inline void tsan_write(void* address, std::size_t bytes, void* pc) {
  __tsan_write_range_pc(address, bytes, pc);
}

/// While it lives, TSan ignores what the running CUDA thread does: the backend's own malloc, mmap
/// and locks, which TSan sees although the backend is not instrumented.
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
constexpr bool kTsan = false;
inline void* tsan_running_fiber() { return nullptr; }
inline void* tsan_new_fiber() { return nullptr; }
inline void tsan_destroy_fiber(void*) {}
inline void tsan_switch(void*) {}
inline void tsan_acquire(void*) {}
inline void tsan_release(void*) {}
inline void tsan_read(const void*, std::size_t, void*) {}
inline void tsan_write(void*, std::size_t, void*) {}
struct TsanBlindfold {
  TsanBlindfold() {}  // not trivial: an unused variable of this type is no warning
};
#endif

constexpr bool kSanitized = kAsan || kTsan;

}  // namespace cuda_cpu
