// SPDX-License-Identifier: MIT
// Stands in for <cuda_fp16.h> on the CPU backend. __half is IEEE half precision: 1 bit of sign, 5
// of exponent, 10 of fraction. Each operation rounds once, as a GPU's does
// (engine/arithmetic/short_floats.h).
#pragma once

#include "../engine/arithmetic/short_floats.h"
#include "cuda_runtime.h"

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};
using __half = cuda_cpu::ShortFloat<cuda_cpu::HalfFormat, __half_raw>;
using __half2 = cuda_cpu::ShortPair<__half, __half_raw, __half2_raw>;
using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

CUDA_CPU_SHORT_FLOAT(__half)
CUDA_CPU_SHORT_NAMES(__half, half)
