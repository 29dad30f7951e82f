// SPDX-License-Identifier: MIT
// Arithmetic and conversions that round in a direction: _rz towards zero, _ru up, _rd down. Those
// that round to the nearest, _rn, stand in device_functions.h.
#pragma once

#define CUDA_CPU_ROUNDED(type, name, ...) \
  type name##_rz(__VA_ARGS__);            \
  type name##_ru(__VA_ARGS__);            \
  type name##_rd(__VA_ARGS__);

CUDA_CPU_ROUNDED(float, __fadd, float x, float y)
CUDA_CPU_ROUNDED(float, __fsub, float x, float y)
CUDA_CPU_ROUNDED(float, __fmul, float x, float y)
CUDA_CPU_ROUNDED(float, __fdiv, float x, float y)
CUDA_CPU_ROUNDED(float, __fmaf, float x, float y, float z)
CUDA_CPU_ROUNDED(float, __frcp, float x)
CUDA_CPU_ROUNDED(float, __fsqrt, float x)
CUDA_CPU_ROUNDED(double, __dadd, double x, double y)
CUDA_CPU_ROUNDED(double, __dsub, double x, double y)
CUDA_CPU_ROUNDED(double, __dmul, double x, double y)
CUDA_CPU_ROUNDED(double, __ddiv, double x, double y)
CUDA_CPU_ROUNDED(double, __fma, double x, double y, double z)
CUDA_CPU_ROUNDED(double, __drcp, double x)
CUDA_CPU_ROUNDED(double, __dsqrt, double x)
CUDA_CPU_ROUNDED(float, __double2float, double x)
CUDA_CPU_ROUNDED(float, __int2float, int x)
CUDA_CPU_ROUNDED(float, __uint2float, unsigned x)
CUDA_CPU_ROUNDED(float, __ll2float, long long x)
CUDA_CPU_ROUNDED(float, __ull2float, unsigned long long x)
CUDA_CPU_ROUNDED(double, __ll2double, long long x)
CUDA_CPU_ROUNDED(double, __ull2double, unsigned long long x)

#undef CUDA_CPU_ROUNDED
