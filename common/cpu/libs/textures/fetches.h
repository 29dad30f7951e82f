// SPDX-License-Identifier: MIT
// The functions of device code that read textures and read and write surfaces. What a fetch
// computes: texture_unit.h.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../../engine/device_functions.h"
#include "../../engine/uninstrumented.h"
#include "../../types/texture_types.h"
#include "../../types/vector_types.h"

namespace cuda_cpu {

/// The texels that a fetch read, for the race detector.
struct TexelsRead {
  const void* address[8];
  int count = 0, bytes = 0;
};

/// A fetch or an access to a surface, as reports name it, and the type that the program names.
struct TextureCall {
  const char* function;
  int dimensions;
  int components, component_bytes;
  bool is_float;
  const char* file;
  int line;
};

void fetch_texel(const TextureCall& call, cudaTextureObject_t texture, int x,
                 std::uint32_t result[4], TexelsRead* read);
void fetch_sample(const TextureCall& call, cudaTextureObject_t texture, const float position[3],
                  std::uint32_t result[4], TexelsRead* read);
void fetch_gathered(const TextureCall& call, cudaTextureObject_t texture, const float position[3],
                    int component, std::uint32_t result[4], TexelsRead* read);

/// The memory of a surface at byte x of row y and layer z; null where the boundary mode says that
/// there is none.
void* surface_address(const TextureCall& call, cudaSurfaceObject_t surface, int x, int y, int z,
                      cudaSurfaceBoundaryMode mode);

/// The types that texels can be read as.
template <class T>
struct TexelType;
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
CUDA_CPU_TEXEL_TYPE(char, char, 1)
CUDA_CPU_TEXEL_TYPES(signed char, char)
CUDA_CPU_TEXEL_TYPES(unsigned char, uchar)
CUDA_CPU_TEXEL_TYPES(short, short)
CUDA_CPU_TEXEL_TYPES(unsigned short, ushort)
CUDA_CPU_TEXEL_TYPES(int, int)
CUDA_CPU_TEXEL_TYPES(unsigned, uint)
CUDA_CPU_TEXEL_TYPES(float, float)
#undef CUDA_CPU_TEXEL_TYPES
#undef CUDA_CPU_TEXEL_TYPE

template <class T>
constexpr TextureCall texture_call(const char* function, int dimensions, const char* file,
                                   int line) {
  using Component = typename TexelType<T>::Component;
  constexpr bool is_floating = std::is_floating_point_v<Component>;
  return {function, dimensions, TexelType<T>::kComponents, sizeof(Component), is_floating,
          file,     line};
}

/// A texel from the words that the texture unit returns.
template <class T>
CUDA_CPU_UNINSTRUMENTED inline T texel_from(const std::uint32_t words[4]) {
  using Component = typename TexelType<T>::Component;
  Component components[TexelType<T>::kComponents];
  for (int i = 0; i < TexelType<T>::kComponents; ++i) {
    if constexpr (std::is_floating_point_v<Component>) {
      std::memcpy(&components[i], &words[i], sizeof(Component));
    } else {
      components[i] = static_cast<Component>(words[i]);
    }
  }
  T texel;
  std::memcpy(&texel, components, sizeof(T));
  return texel;
}

template <class T>
CUDA_CPU_UNINSTRUMENTED inline T fetch_as(cudaTextureObject_t texture, int x, const char* file,
                                          int line, TexelsRead* read) {
  std::uint32_t words[4];
  fetch_texel(texture_call<T>("tex1Dfetch", 1, file, line), texture, x, words, read);
  return texel_from<T>(words);
}

template <class T>
CUDA_CPU_UNINSTRUMENTED inline T sample_as(const char* function, int dimensions,
                                           cudaTextureObject_t texture, float x, float y, float z,
                                           const char* file, int line, TexelsRead* read) {
  const float position[3] = {x, y, z};
  std::uint32_t words[4];
  fetch_sample(texture_call<T>(function, dimensions, file, line), texture, position, words, read);
  return texel_from<T>(words);
}

template <class T>
CUDA_CPU_UNINSTRUMENTED inline T gather_as(cudaTextureObject_t texture, float x, float y,
                                           int component, const char* file, int line,
                                           TexelsRead* read) {
  const float position[3] = {x, y, 0};
  std::uint32_t words[4];
  fetch_gathered(texture_call<T>("tex2Dgather", 2, file, line), texture, position, component, words,
                 read);
  return texel_from<T>(words);
}

#if defined(CUDA_CPU_XRAY)
#define CUDA_CPU_TEXELS_ARE_READ(read) ::cuda_cpu::texels_are_read(read)
#else
#define CUDA_CPU_TEXELS_ARE_READ(read) static_cast<void>(read)
#endif

template <class T>
CUDA_CPU_UNINSTRUMENTED inline T surface_load(const void* address) {
  T value{};
  if (address != nullptr) std::memcpy(&value, address, sizeof(T));
  return value;
}
template <class T>
CUDA_CPU_UNINSTRUMENTED inline void surface_store(void* address, const T& value) {
  std::memcpy(address, &value, sizeof(T));
}

/// The types that surfaces are read and written as: those of textures, and 64-bit integers.
template <class T>
constexpr TextureCall surface_call(const char* function, int dimensions, const char* file,
                                   int line) {
  static_assert(
      sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
      "a surface is read and written in pieces of 1, 2, 4, 8 or 16 bytes");
  return {function, dimensions, 1, sizeof(T), false, file, line};
}

template <class T>
CUDA_CPU_TELLING T read_surface(const char* function, int dimensions, cudaSurfaceObject_t surface,
                                int x, int y, int z, cudaSurfaceBoundaryMode mode, const char* file,
                                int line) {
  const void* const address =
      surface_address(surface_call<T>(function, dimensions, file, line), surface, x, y, z, mode);
#if defined(CUDA_CPU_XRAY)
  if (address != nullptr) surface_is_used(address, sizeof(T), false);
#endif
  return surface_load<T>(address);
}

template <class T>
CUDA_CPU_TELLING void write_surface(const char* function, int dimensions, const T& value,
                                    cudaSurfaceObject_t surface, int x, int y, int z,
                                    cudaSurfaceBoundaryMode mode, const char* file, int line) {
  void* const address =
      surface_address(surface_call<T>(function, dimensions, file, line), surface, x, y, z, mode);
  if (address == nullptr) return;
#if defined(CUDA_CPU_XRAY)
  surface_is_used(address, sizeof(T), true);
#endif
  surface_store(address, value);
}

}  // namespace cuda_cpu

// ---- textures ----

template <class T>
CUDA_CPU_TELLING T tex1Dfetch(cudaTextureObject_t texture, int x,
                              const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  cuda_cpu::TexelsRead read;
  const T texel = cuda_cpu::fetch_as<T>(texture, x, file, line, &read);
  CUDA_CPU_TEXELS_ARE_READ(read);
  return texel;
}
template <class T>
CUDA_CPU_TELLING T tex1D(cudaTextureObject_t texture, float x, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE()) {
  cuda_cpu::TexelsRead read;
  const T texel = cuda_cpu::sample_as<T>("tex1D", 1, texture, x, 0, 0, file, line, &read);
  CUDA_CPU_TEXELS_ARE_READ(read);
  return texel;
}
template <class T>
CUDA_CPU_TELLING T tex2D(cudaTextureObject_t texture, float x, float y,
                         const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  cuda_cpu::TexelsRead read;
  const T texel = cuda_cpu::sample_as<T>("tex2D", 2, texture, x, y, 0, file, line, &read);
  CUDA_CPU_TEXELS_ARE_READ(read);
  return texel;
}
template <class T>
CUDA_CPU_TELLING T tex3D(cudaTextureObject_t texture, float x, float y, float z,
                         const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  cuda_cpu::TexelsRead read;
  const T texel = cuda_cpu::sample_as<T>("tex3D", 3, texture, x, y, z, file, line, &read);
  CUDA_CPU_TEXELS_ARE_READ(read);
  return texel;
}
template <class T>
CUDA_CPU_TELLING T tex2Dgather(cudaTextureObject_t texture, float x, float y, int component = 0,
                               const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  cuda_cpu::TexelsRead read;
  const T texel = cuda_cpu::gather_as<T>(texture, x, y, component, file, line, &read);
  CUDA_CPU_TEXELS_ARE_READ(read);
  return texel;
}

#undef CUDA_CPU_TEXELS_ARE_READ

// The same with a pointer for the result.
template <class T>
CUDA_CPU_TELLING void tex1Dfetch(T* texel, cudaTextureObject_t texture, int x,
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  *texel = tex1Dfetch<T>(texture, x, file, line);
}
template <class T>
CUDA_CPU_TELLING void tex1D(T* texel, cudaTextureObject_t texture, float x,
                            const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  *texel = tex1D<T>(texture, x, file, line);
}
template <class T>
CUDA_CPU_TELLING void tex2D(T* texel, cudaTextureObject_t texture, float x, float y,
                            const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  *texel = tex2D<T>(texture, x, y, file, line);
}
template <class T>
CUDA_CPU_TELLING void tex3D(T* texel, cudaTextureObject_t texture, float x, float y, float z,
                            const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  *texel = tex3D<T>(texture, x, y, z, file, line);
}
template <class T>
CUDA_CPU_TELLING void tex2Dgather(T* texel, cudaTextureObject_t texture, float x, float y,
                                  int component = 0, const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
  *texel = tex2Dgather<T>(texture, x, y, component, file, line);
}

// ---- surfaces; x counts bytes ----

template <class T>
CUDA_CPU_TELLING T surf1Dread(cudaSurfaceObject_t surface, int x,
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                              const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return cuda_cpu::read_surface<T>("surf1Dread", 1, surface, x, 0, 0, mode, file, line);
}
template <class T>
CUDA_CPU_TELLING T surf2Dread(cudaSurfaceObject_t surface, int x, int y,
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                              const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return cuda_cpu::read_surface<T>("surf2Dread", 2, surface, x, y, 0, mode, file, line);
}
template <class T>
CUDA_CPU_TELLING T surf3Dread(cudaSurfaceObject_t surface, int x, int y, int z,
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                              const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return cuda_cpu::read_surface<T>("surf3Dread", 3, surface, x, y, z, mode, file, line);
}
template <class T>
CUDA_CPU_TELLING void surf1Dread(T* value, cudaSurfaceObject_t surface, int x,
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  *value = surf1Dread<T>(surface, x, mode, file, line);
}
template <class T>
CUDA_CPU_TELLING void surf2Dread(T* value, cudaSurfaceObject_t surface, int x, int y,
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  *value = surf2Dread<T>(surface, x, y, mode, file, line);
}
template <class T>
CUDA_CPU_TELLING void surf3Dread(T* value, cudaSurfaceObject_t surface, int x, int y, int z,
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  *value = surf3Dread<T>(surface, x, y, z, mode, file, line);
}
template <class T>
CUDA_CPU_TELLING void surf1Dwrite(T value, cudaSurfaceObject_t surface, int x,
                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                  const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
  cuda_cpu::write_surface("surf1Dwrite", 1, value, surface, x, 0, 0, mode, file, line);
}
template <class T>
CUDA_CPU_TELLING void surf2Dwrite(T value, cudaSurfaceObject_t surface, int x, int y,
                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                  const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
  cuda_cpu::write_surface("surf2Dwrite", 2, value, surface, x, y, 0, mode, file, line);
}
template <class T>
CUDA_CPU_TELLING void surf3Dwrite(T value, cudaSurfaceObject_t surface, int x, int y, int z,
                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                  const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
  cuda_cpu::write_surface("surf3Dwrite", 3, value, surface, x, y, z, mode, file, line);
}
