// SPDX-License-Identifier: MIT
// Inline functions of the backend touch the backend's own data. The race checker and X-ray must not
// see that, so functions marked with this word are compiled without calls to them.
#pragma once

#if defined(__SANITIZE_THREAD__)
#if __GNUC__ >= 12
#define CUDA_CPU_UNINSTRUMENTED \
  __attribute__((no_sanitize("thread"), no_sanitize_coverage, noinline))
#else
#define CUDA_CPU_UNINSTRUMENTED __attribute__((no_sanitize("thread"), noinline))
#endif
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CUDA_CPU_UNINSTRUMENTED __attribute__((no_sanitize("thread", "coverage"), noinline))
#endif
#endif
#if !defined(CUDA_CPU_UNINSTRUMENTED)
#define CUDA_CPU_UNINSTRUMENTED
#endif
