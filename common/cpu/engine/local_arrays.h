// SPDX-License-Identifier: MIT
// Behind the declaration of an array in a device function the pre-pass writes this word, if the
// array may lie in a GPU's local memory. X-ray hears of it; everywhere else the word is empty.
#pragma once

#if defined(CUDA_CPU_XRAY)
#include "hooks.h"
// `has_unknown_index`: an index into it is not known before the program runs, so it cannot be in
// registers.
#define CUDA_CPU_LOCAL_ARRAY(array, has_unknown_index)                                   \
  {                                                                                      \
    static const ::cuda_cpu::LocalArray cuda_cpu_local{#array, has_unknown_index};       \
    ::cuda_cpu::local_array_begins((const void*)&array, sizeof(array), &cuda_cpu_local); \
  }
#else
#define CUDA_CPU_LOCAL_ARRAY(array, has_unknown_index)
#endif
