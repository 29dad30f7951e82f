// SPDX-License-Identifier: MIT
// The types of CUDA arrays, with the names and numbers of CUDA 13.0: the formats of texels, the
// memory under textures.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../../runtime/types.h"
#include "../../types/site.h"
#include "../../types/vector_types.h"

struct cudaArray;
using cudaArray_t = cudaArray*;
using cudaArray_const_t = const cudaArray*;
struct cudaMipmappedArray;
using cudaMipmappedArray_t = cudaMipmappedArray*;

#define cudaArrayDefault 0x00
#define cudaArrayLayered 0x01
#define cudaArraySurfaceLoadStore 0x02
#define cudaArrayCubemap 0x04
#define cudaArrayTextureGather 0x08

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3
};

/// Bits of each component of a texel, 0 for those that it lacks, and what they mean.
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};

struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaPitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};

inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  return {width, height, depth};
}
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t width,
                                          size_t height) {
  return {pointer, pitch, width, height};
}

enum cudaResourceType {
  cudaResourceTypeArray = 0,
  cudaResourceTypeMipmappedArray = 1,
  cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3
};

/// The memory that a texture or surface object reads.
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      cudaMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
    struct {
      int reserved[32];
    } reserved;
  } res;
  unsigned int flags;
};

/// A view with another format is not supported; the pointer to one must be null.
struct cudaResourceViewDesc;

/// A copy between two arrays or pitched pointers, as cudaMemcpy3D takes it. Positions and the
/// extent count elements where an array takes part, else bytes.
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};

/// A format by the bits of its components.
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return {16, 0, 0, 0, cudaChannelFormatKindFloat};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return {16, 16, 0, 0, cudaChannelFormatKindFloat};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return {16, 16, 16, 16, cudaChannelFormatKindFloat};
}

namespace cuda_cpu {

/// The types that texels can be read as: how many components of which type; no other has any.
template <class T>
struct TexelType {
  using Component = T;
  static constexpr int kComponents = 0;
};
#define CUDA_CPU_TEXEL_TYPE(type, component, components) \
  template <>                                            \
  struct TexelType<type> {                               \
    using Component = component;                         \
    static constexpr int kComponents = components;       \
  };
#define CUDA_CPU_TEXEL_TYPES(type, vector) \
  CUDA_CPU_TEXEL_TYPE(type, type, 1)       \
  CUDA_CPU_TEXEL_TYPE(vector##1, type, 1)  \
  CUDA_CPU_TEXEL_TYPE(vector##2, type, 2)  \
  CUDA_CPU_TEXEL_TYPE(vector##4, type, 4)
CUDA_CPU_TEXEL_TYPE(char, signed char, 1)
CUDA_CPU_TEXEL_TYPES(signed char, char)
CUDA_CPU_TEXEL_TYPES(unsigned char, uchar)
CUDA_CPU_TEXEL_TYPES(short, short)
CUDA_CPU_TEXEL_TYPES(unsigned short, ushort)
CUDA_CPU_TEXEL_TYPES(int, int)
CUDA_CPU_TEXEL_TYPES(unsigned, uint)
CUDA_CPU_TEXEL_TYPES(float, float)
#undef CUDA_CPU_TEXEL_TYPES
#undef CUDA_CPU_TEXEL_TYPE

/// Refuses formats that no texel has. Returns the CUDA error code.
int check_format(const cudaChannelFormatDesc& format);

/// Refuses a pointer that is no array, or a freed one; `call` is what gets it.
int check_array(const char* call, Site site, cudaArray_const_t array);

}  // namespace cuda_cpu

template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  constexpr int n = cuda_cpu::TexelType<T>::kComponents;
  using Component = typename cuda_cpu::TexelType<T>::Component;
  constexpr int bits = n > 0 ? 8 * sizeof(Component) : 0;
  return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0,
          n == 0                                ? cudaChannelFormatKindNone
          : std::is_floating_point_v<Component> ? cudaChannelFormatKindFloat
          : std::is_signed_v<Component>         ? cudaChannelFormatKindSigned
                                                : cudaChannelFormatKindUnsigned};
}
