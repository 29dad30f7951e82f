// SPDX-License-Identifier: MIT
// The functions of device code that read textures and read and write surfaces. What a fetch
// computes: texture_unit.h.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../../engine/arithmetic/device_functions.h"
#include "../../engine/state/uninstrumented.h"
#include "../../types/site.h"
#include "../../types/texture_types.h"
#include "../../types/vector_types.h"
#include "array_types.h"
#include "texels_read.h"

namespace cuda_cpu {

/// The type that the program names.
struct TexelForm {
  int components, component_bytes;
  bool is_float;
};
template <class T, class Component = typename TexelType<T>::Component>
constexpr TexelForm kFormOf = {TexelType<T>::kComponents, sizeof(Component),
                               std::is_floating_point_v<Component>};

// `function` is what reports name.
TexelsRead fetch_texel(const char* function, const TexelForm& form, cudaTextureObject_t texture,
                       int x, Site site);
TexelsRead fetch_sample(const char* function, int dimensions, const TexelForm& form,
                        cudaTextureObject_t texture, float x, float y, float z, Site site);
TexelsRead fetch_gathered(const char* function, const TexelForm& form, cudaTextureObject_t texture,
                          float x, float y, int component, Site site);

/// The memory of a surface at byte x of row y and layer z; null where the boundary mode says that
/// there is none. `bytes`: of what is read or written there.
void* surface_address(const char* function, int dimensions, int bytes, cudaSurfaceObject_t surface,
                      int x, int y, int z, cudaSurfaceBoundaryMode mode, Site site);

/// A texel from the words that the texture unit returns.
template <class T>
CUDA_CPU_UNINSTRUMENTED inline T texel_from(const std::uint32_t words[4]) {
  using Component = typename TexelType<T>::Component;
  Component components[TexelType<T>::kComponents];
  for (int i = 0; i < TexelType<T>::kComponents; ++i) {
    std::memcpy(&components[i], &words[i], sizeof(Component));  // little-endian, as a GPU is
  }
  T texel;
  std::memcpy(&texel, components, sizeof(T));
  return texel;
}

template <class T>
CUDA_CPU_TELLING T texel_of(const TexelsRead& read) {
  static_assert(TexelType<T>::kComponents > 0, "a texel is 1, 2 or 4 char, short, int or float");
#if defined(CUDA_CPU_XRAY)
  texels_are_read(read);
#endif
  return texel_from<T>(read.words);
}

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
constexpr int surface_bytes() {
  static_assert(
      sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
      "a surface is read and written in pieces of 1, 2, 4, 8 or 16 bytes");
  return sizeof(T);
}

template <class T>
CUDA_CPU_TELLING T read_surface(const char* function, int dimensions, cudaSurfaceObject_t surface,
                                int x, int y, int z, cudaSurfaceBoundaryMode mode, Site site) {
  const void* const address =
      surface_address(function, dimensions, surface_bytes<T>(), surface, x, y, z, mode, site);
#if defined(CUDA_CPU_XRAY)
  if (address != nullptr) uncounted_use_begins(address, sizeof(T), false);
#endif
  return surface_load<T>(address);
}

template <class T>
CUDA_CPU_TELLING void write_surface(const char* function, int dimensions, const T& value,
                                    cudaSurfaceObject_t surface, int x, int y, int z,
                                    cudaSurfaceBoundaryMode mode, Site site) {
  void* const address =
      surface_address(function, dimensions, surface_bytes<T>(), surface, x, y, z, mode, site);
  if (address == nullptr) return;
#if defined(CUDA_CPU_XRAY)
  uncounted_use_begins(address, sizeof(T), true);
#endif
  surface_store(address, value);
}

}  // namespace cuda_cpu

// ---- textures ----

template <class T>
CUDA_CPU_TELLING T tex1Dfetch(cudaTextureObject_t texture, int x, CUDA_CPU_HERE) {
  return cuda_cpu::texel_of<T>(
      cuda_cpu::fetch_texel("tex1Dfetch", cuda_cpu::kFormOf<T>, texture, x, {file, line}));
}
template <class T>
CUDA_CPU_TELLING T tex1D(cudaTextureObject_t texture, float x, CUDA_CPU_HERE) {
  return cuda_cpu::texel_of<T>(
      cuda_cpu::fetch_sample("tex1D", 1, cuda_cpu::kFormOf<T>, texture, x, 0, 0, {file, line}));
}
template <class T>
CUDA_CPU_TELLING T tex2D(cudaTextureObject_t texture, float x, float y, CUDA_CPU_HERE) {
  return cuda_cpu::texel_of<T>(
      cuda_cpu::fetch_sample("tex2D", 2, cuda_cpu::kFormOf<T>, texture, x, y, 0, {file, line}));
}
template <class T>
CUDA_CPU_TELLING T tex3D(cudaTextureObject_t texture, float x, float y, float z, CUDA_CPU_HERE) {
  return cuda_cpu::texel_of<T>(
      cuda_cpu::fetch_sample("tex3D", 3, cuda_cpu::kFormOf<T>, texture, x, y, z, {file, line}));
}
template <class T>
CUDA_CPU_TELLING T tex2Dgather(cudaTextureObject_t texture, float x, float y, int component = 0,
                               CUDA_CPU_HERE) {
  return cuda_cpu::texel_of<T>(cuda_cpu::fetch_gathered("tex2Dgather", cuda_cpu::kFormOf<T>,
                                                        texture, x, y, component, {file, line}));
}

// The same with a pointer for the result.
template <class T>
CUDA_CPU_TELLING void tex1Dfetch(T* texel, cudaTextureObject_t texture, int x, CUDA_CPU_HERE) {
  *texel = tex1Dfetch<T>(texture, x, file, line);
}
template <class T>
CUDA_CPU_TELLING void tex1D(T* texel, cudaTextureObject_t texture, float x, CUDA_CPU_HERE) {
  *texel = tex1D<T>(texture, x, file, line);
}
template <class T>
CUDA_CPU_TELLING void tex2D(T* texel, cudaTextureObject_t texture, float x, float y,
                            CUDA_CPU_HERE) {
  *texel = tex2D<T>(texture, x, y, file, line);
}
template <class T>
CUDA_CPU_TELLING void tex3D(T* texel, cudaTextureObject_t texture, float x, float y, float z,
                            CUDA_CPU_HERE) {
  *texel = tex3D<T>(texture, x, y, z, file, line);
}
template <class T>
CUDA_CPU_TELLING void tex2Dgather(T* texel, cudaTextureObject_t texture, float x, float y,
                                  int component = 0, CUDA_CPU_HERE) {
  *texel = tex2Dgather<T>(texture, x, y, component, file, line);
}

// ---- surfaces; x counts bytes ----

template <class T>
CUDA_CPU_TELLING T surf1Dread(cudaSurfaceObject_t surface, int x,
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, CUDA_CPU_HERE) {
  return cuda_cpu::read_surface<T>("surf1Dread", 1, surface, x, 0, 0, mode, {file, line});
}
template <class T>
CUDA_CPU_TELLING T surf2Dread(cudaSurfaceObject_t surface, int x, int y,
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, CUDA_CPU_HERE) {
  return cuda_cpu::read_surface<T>("surf2Dread", 2, surface, x, y, 0, mode, {file, line});
}
template <class T>
CUDA_CPU_TELLING T surf3Dread(cudaSurfaceObject_t surface, int x, int y, int z,
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, CUDA_CPU_HERE) {
  return cuda_cpu::read_surface<T>("surf3Dread", 3, surface, x, y, z, mode, {file, line});
}
template <class T>
CUDA_CPU_TELLING void surf1Dread(T* value, cudaSurfaceObject_t surface, int x,
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                 CUDA_CPU_HERE) {
  *value = surf1Dread<T>(surface, x, mode, file, line);
}
template <class T>
CUDA_CPU_TELLING void surf2Dread(T* value, cudaSurfaceObject_t surface, int x, int y,
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                 CUDA_CPU_HERE) {
  *value = surf2Dread<T>(surface, x, y, mode, file, line);
}
template <class T>
CUDA_CPU_TELLING void surf3Dread(T* value, cudaSurfaceObject_t surface, int x, int y, int z,
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                 CUDA_CPU_HERE) {
  *value = surf3Dread<T>(surface, x, y, z, mode, file, line);
}
template <class T>
CUDA_CPU_TELLING void surf1Dwrite(T value, cudaSurfaceObject_t surface, int x,
                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                  CUDA_CPU_HERE) {
  cuda_cpu::write_surface("surf1Dwrite", 1, value, surface, x, 0, 0, mode, {file, line});
}
template <class T>
CUDA_CPU_TELLING void surf2Dwrite(T value, cudaSurfaceObject_t surface, int x, int y,
                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                  CUDA_CPU_HERE) {
  cuda_cpu::write_surface("surf2Dwrite", 2, value, surface, x, y, 0, mode, {file, line});
}
template <class T>
CUDA_CPU_TELLING void surf3Dwrite(T value, cudaSurfaceObject_t surface, int x, int y, int z,
                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                  CUDA_CPU_HERE) {
  cuda_cpu::write_surface("surf3Dwrite", 3, value, surface, x, y, z, mode, {file, line});
}
