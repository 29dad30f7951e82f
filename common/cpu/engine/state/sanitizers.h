// SPDX-License-Identifier: MIT
// Tells AddressSanitizer the bounds of the stack that runs, and which memory nobody may use.
// Without it all of this is empty.
#pragma once

#include <cstddef>

#if defined(CUDA_CPU_ASAN)
#include <sanitizer/asan_interface.h>
#define CUDA_CPU_NOT_SEEN_BY_ASAN __attribute__((no_sanitize("address")))
#else
#define CUDA_CPU_NOT_SEEN_BY_ASAN
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

}  // namespace cuda_cpu
