// SPDX-License-Identifier: MIT
// CUDA arrays: making and freeing them, and copies from and to them.
#pragma once

#include <cstddef>

#include "../../types/site.h"
#include "../../types/vector_types.h"
#include "array_types.h"

/// A format by the bits of its components.
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return {16, 0, 0, 0, cudaChannelFormatKindFloat};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return {16, 16, 0, 0, cudaChannelFormatKindFloat};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return {16, 16, 16, 16, cudaChannelFormatKindFloat};
}

namespace cuda_cpu {

/// The format of texels of type T; of no kind for types that no texel has.
template <class T>
struct ChannelsOf {
  static constexpr int kBits = 0, kChannels = 0;
  static constexpr cudaChannelFormatKind kKind = cudaChannelFormatKindNone;
};
#define CUDA_CPU_CHANNELS(type, bits, channels, kind)                           \
  template <>                                                                   \
  struct ChannelsOf<type> {                                                     \
    static constexpr int kBits = bits, kChannels = channels;                    \
    static constexpr cudaChannelFormatKind kKind = cudaChannelFormatKind##kind; \
  };
#define CUDA_CPU_CHANNELS_OF(type, vector, bits, kind) \
  CUDA_CPU_CHANNELS(type, bits, 1, kind)               \
  CUDA_CPU_CHANNELS(vector##1, bits, 1, kind)          \
  CUDA_CPU_CHANNELS(vector##2, bits, 2, kind)          \
  CUDA_CPU_CHANNELS(vector##4, bits, 4, kind)
CUDA_CPU_CHANNELS(char, 8, 1, Signed)
CUDA_CPU_CHANNELS_OF(signed char, char, 8, Signed)
CUDA_CPU_CHANNELS_OF(unsigned char, uchar, 8, Unsigned)
CUDA_CPU_CHANNELS_OF(short, short, 16, Signed)
CUDA_CPU_CHANNELS_OF(unsigned short, ushort, 16, Unsigned)
CUDA_CPU_CHANNELS_OF(int, int, 32, Signed)
CUDA_CPU_CHANNELS_OF(unsigned, uint, 32, Unsigned)
CUDA_CPU_CHANNELS_OF(float, float, 32, Float)
#undef CUDA_CPU_CHANNELS_OF
#undef CUDA_CPU_CHANNELS

/// Refuses formats that no texel has. Returns the CUDA error code.
int check_format(const cudaChannelFormatDesc& format);

/// Refuses a pointer that is no array, or a freed one; `call` is what gets it.
int check_array(const char* call, Site site, cudaArray_const_t array);

}  // namespace cuda_cpu

template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Channels = cuda_cpu::ChannelsOf<T>;
  const int bits = Channels::kBits, n = Channels::kChannels;
  return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0, Channels::kKind};
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                            size_t height = 0, unsigned int flags = 0,
                            cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned int flags = 0,
                              cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaFreeArray(cuda_cpu::Located<cudaArray_t> array);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array);

cudaError_t cudaMemcpy2DToArray(cudaArray_t destination, size_t x, size_t y, const void* source,
                                size_t source_pitch, size_t width, size_t height,
                                cudaMemcpyKind kind,
                                cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t destination, size_t x, size_t y,
                                     const void* source, size_t source_pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream = nullptr,
                                     cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMemcpy2DFromArray(void* destination, size_t destination_pitch,
                                  cudaArray_const_t source, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind,
                                  cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMemcpy2DFromArrayAsync(void* destination, size_t destination_pitch,
                                       cudaArray_const_t source, size_t x, size_t y, size_t width,
                                       size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream = nullptr,
                                       cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t destination, size_t destination_x,
                                     size_t destination_y, cudaArray_const_t source,
                                     size_t source_x, size_t source_y, size_t width, size_t height,
                                     cudaMemcpyKind kind = cudaMemcpyDeviceToDevice,
                                     cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});

// Deprecated in CUDA for their like with two dimensions: `bytes` run on from row to row.
cudaError_t cudaMemcpyToArray(cudaArray_t destination, size_t x, size_t y, const void* source,
                              size_t bytes, cudaMemcpyKind kind,
                              cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMemcpyFromArray(void* destination, cudaArray_const_t source, size_t x, size_t y,
                                size_t bytes, cudaMemcpyKind kind,
                                cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});

/// Rows, and layers of them, each row as long as the pitch that cudaMallocPitch would give.
cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent,
                         cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
/// The extent's width counts bytes; layers are `ysize` rows of the memory apart.
cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent,
                         cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent,
                              cudaStream_t stream = nullptr,
                              cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});

/// Between arrays and pitched pointers, of up to three dimensions.
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy,
                         cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream = nullptr,
                              cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
