// SPDX-License-Identifier: MIT
// Stands in for <cuda_bf16.h> on the CPU backend. __nv_bfloat16 is bfloat16: the upper 16 bits of a
// float, 8 of exponent, 7 of fraction. Each operation rounds once, as a GPU's does
// (engine/arithmetic/short_floats.h).
#pragma once

#include "../engine/arithmetic/short_floats.h"
#include "cuda_runtime.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};
using __nv_bfloat16 = cuda_cpu::ShortFloat<cuda_cpu::Bfloat16Format, __nv_bfloat16_raw>;
using __nv_bfloat162 = cuda_cpu::ShortPair<__nv_bfloat16, __nv_bfloat16_raw, __nv_bfloat162_raw>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

CUDA_CPU_SHORT_FLOAT(__nv_bfloat16)
CUDA_CPU_SHORT_NAMES(__nv_bfloat16, bfloat16)
