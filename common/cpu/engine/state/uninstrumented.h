// SPDX-License-Identifier: MIT
// Inline functions of the backend touch the backend's own data. The race checker and X-ray must not
// see that, so functions marked with one of these words are compiled without calls to them.
#pragma once

#if defined(__SANITIZE_THREAD__) && __GNUC__ >= 12
#define CUDA_CPU_UNSEEN __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#elif defined(__SANITIZE_THREAD__)
#define CUDA_CPU_UNSEEN __attribute__((no_sanitize("thread")))
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CUDA_CPU_UNSEEN __attribute__((no_sanitize("thread", "coverage")))
#endif
#endif
#if defined(CUDA_CPU_UNSEEN)
#define CUDA_CPU_UNINSTRUMENTED CUDA_CPU_UNSEEN __attribute__((noinline))
#else
#define CUDA_CPU_UNSEEN
#define CUDA_CPU_UNINSTRUMENTED
#endif

// Functions that tell X-ray what they do themselves: their loads are not told of again, and they
// are part of the kernel's line.
#if defined(CUDA_CPU_XRAY)
#define CUDA_CPU_TELLING inline __attribute__((always_inline))
#else
#define CUDA_CPU_TELLING inline
#endif
