// SPDX-License-Identifier: MIT
// Stands in for the C library's <assert.h>: on the host a failed assertion aborts as always, in a
// kernel it is reported with block and thread and sets cudaErrorAssert. No include guard: NDEBUG
// counts at each inclusion.
#ifndef CUDA_CPU_ASSERT_H
#define CUDA_CPU_ASSERT_H
namespace cuda_cpu {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line,
                                   const char* function);
}  // namespace cuda_cpu
#endif

#undef assert
#ifdef NDEBUG
#define assert(...) (static_cast<void>(0))
#else
#define assert(...)               \
  (static_cast<bool>(__VA_ARGS__) \
       ? static_cast<void>(0)     \
       : ::cuda_cpu::assertion_failed(#__VA_ARGS__, __FILE__, __LINE__, __func__))
#endif
