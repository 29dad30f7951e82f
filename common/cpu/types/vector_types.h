// SPDX-License-Identifier: MIT
// The built-in vector types of CUDA C++ (char1 ... double4, dim3) and their make_ functions, with
// the sizes and alignments that device code may rely on: a float4 is one 16-byte load, a float3 is
// three floats.
#pragma once

#define __VECTOR_TYPES_H__

// Types of 1 and 3 components align like their component; 2 and 4 components align as one unit, up
// to 16 bytes.
#define CUDA_CPU_VECTOR_TYPE(type, suffix, component, align2, align4)                              \
  struct type##1##suffix {                                                                         \
    component x;                                                                                   \
  };                                                                                               \
  struct alignas(align2) type##2##suffix {                                                         \
    component x, y;                                                                                \
  };                                                                                               \
  struct type##3##suffix {                                                                         \
    component x, y, z;                                                                             \
  };                                                                                               \
  CUDA_CPU_VECTOR_TYPE4(type, suffix, component, align4)                                           \
  inline constexpr type##1##suffix make_##type##1##suffix(component x) { return {x}; }             \
  inline constexpr type##2##suffix make_##type##2##suffix(component x, component y) {              \
    return {x, y};                                                                                 \
  }                                                                                                \
  inline constexpr type##3##suffix make_##type##3##suffix(component x, component y, component z) { \
    return {x, y, z};                                                                              \
  }

#define CUDA_CPU_VECTOR_TYPE4(type, suffix, component, align4)                                   \
  struct alignas(align4) type##4##suffix {                                                       \
    component x, y, z, w;                                                                        \
  };                                                                                             \
  inline constexpr type##4##suffix make_##type##4##suffix(component x, component y, component z, \
                                                          component w) {                         \
    return {x, y, z, w};                                                                         \
  }

CUDA_CPU_VECTOR_TYPE(char, , signed char, 2, 4)
CUDA_CPU_VECTOR_TYPE(uchar, , unsigned char, 2, 4)
CUDA_CPU_VECTOR_TYPE(short, , short, 4, 8)
CUDA_CPU_VECTOR_TYPE(ushort, , unsigned short, 4, 8)
CUDA_CPU_VECTOR_TYPE(int, , int, 8, 16)
CUDA_CPU_VECTOR_TYPE(uint, , unsigned int, 8, 16)
CUDA_CPU_VECTOR_TYPE(long, , long, 2 * sizeof(long), 16)
CUDA_CPU_VECTOR_TYPE(ulong, , unsigned long, 2 * sizeof(long), 16)
CUDA_CPU_VECTOR_TYPE(float, , float, 8, 16)
CUDA_CPU_VECTOR_TYPE(longlong, , long long, 16, 16)
CUDA_CPU_VECTOR_TYPE(ulonglong, , unsigned long long, 16, 16)
CUDA_CPU_VECTOR_TYPE(double, , double, 16, 16)

// CUDA 13 spells out the alignment of its 32-byte vectors.
CUDA_CPU_VECTOR_TYPE4(long, _16a, long, 16)
CUDA_CPU_VECTOR_TYPE4(long, _32a, long, 32)
CUDA_CPU_VECTOR_TYPE4(ulong, _16a, unsigned long, 16)
CUDA_CPU_VECTOR_TYPE4(ulong, _32a, unsigned long, 32)
CUDA_CPU_VECTOR_TYPE4(longlong, _16a, long long, 16)
CUDA_CPU_VECTOR_TYPE4(longlong, _32a, long long, 32)
CUDA_CPU_VECTOR_TYPE4(ulonglong, _16a, unsigned long long, 16)
CUDA_CPU_VECTOR_TYPE4(ulonglong, _32a, unsigned long long, 32)
CUDA_CPU_VECTOR_TYPE4(double, _16a, double, 16)
CUDA_CPU_VECTOR_TYPE4(double, _32a, double, 32)

#undef CUDA_CPU_VECTOR_TYPE
#undef CUDA_CPU_VECTOR_TYPE4

/// Size of a grid or block; components left out are 1.
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
