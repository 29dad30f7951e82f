// SPDX-License-Identifier: MIT
// Copies and fills: cudaMemcpy, cudaMemset, their 2D, asynchronous and symbol forms.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../types/site.h"
#include "types.h"

namespace cuda_cpu {

cudaError_t copy_to_symbol(const void* symbol, const void* source, std::size_t bytes,
                           std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream, bool async,
                           Site site);
cudaError_t copy_from_symbol(void* destination, const void* symbol, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream,
                             bool async, Site site);
/// Copies rows on a stream. `async`: the call may return before it is done.
cudaError_t copy_block(const char* call, Site site, void* destination,
                       std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                       std::size_t width, std::size_t height, cudaMemcpyKind kind,
                       cudaStream_t stream, bool async);
/// A plain copy, of one row.
cudaError_t copy_row(const char* call, Site site, void* destination, const void* source,
                     std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool async);
/// Fills rows with a byte, on a stream.
cudaError_t fill_block(const char* call, Site site, void* pointer, std::size_t pitch, int value,
                       std::size_t width, std::size_t height, cudaStream_t stream,
                       bool async = true);
/// A note: a fill takes the lowest byte of a whole number, not this value.
void note_fill_with(double value, Site site);
cudaError_t symbol_address(void** address, const void* symbol, Site site);
cudaError_t symbol_size(std::size_t* size, const void* symbol, Site site);

/// The address of a variable of any kind: of the symbol itself, not of what it points to.
template <class T>
const void* address_of(const volatile T& symbol) {
  return const_cast<const void*>(static_cast<const volatile void*>(__builtin_addressof(symbol)));
}

}  // namespace cuda_cpu

cudaError_t cudaMemcpy(void* destination, const void* source, size_t bytes, cudaMemcpyKind kind,
                       CUDA_CPU_SITE);
cudaError_t cudaMemcpyAsync(void* destination, const void* source, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream = nullptr, CUDA_CPU_SITE);
cudaError_t cudaMemcpy2D(void* destination, size_t destination_pitch, const void* source,
                         size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                         CUDA_CPU_SITE);
cudaError_t cudaMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr, CUDA_CPU_SITE);
cudaError_t cudaMemset(void* pointer, int value, size_t bytes, CUDA_CPU_SITE);
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream = nullptr,
                            CUDA_CPU_SITE);
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height,
                         CUDA_CPU_SITE);
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream = nullptr, CUDA_CPU_SITE);

template <class F, std::enable_if_t<std::is_floating_point<F>::value, int> = 0>
cudaError_t cudaMemset(void* pointer, F value, size_t bytes, CUDA_CPU_SITE) {
  cuda_cpu::note_fill_with(value, site);
  return cudaMemset(pointer, static_cast<int>(value), bytes, site);
}

/// Between devices.
cudaError_t cudaMemcpyPeer(void* destination, int destination_device, const void* source,
                           int source_device, size_t bytes, CUDA_CPU_SITE);
cudaError_t cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source,
                                int source_device, size_t bytes, cudaStream_t stream = nullptr,
                                CUDA_CPU_SITE);

template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* source, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice, CUDA_CPU_SITE) {
  return cuda_cpu::copy_to_symbol(cuda_cpu::address_of(symbol), source, bytes, offset, kind,
                                  nullptr, false, site);
}

template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* source, size_t bytes,
                                    size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr, CUDA_CPU_SITE) {
  return cuda_cpu::copy_to_symbol(cuda_cpu::address_of(symbol), source, bytes, offset, kind, stream,
                                  true, site);
}

template <class T>
cudaError_t cudaMemcpyFromSymbol(void* destination, const T& symbol, size_t bytes,
                                 size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                 CUDA_CPU_SITE) {
  return cuda_cpu::copy_from_symbol(destination, cuda_cpu::address_of(symbol), bytes, offset, kind,
                                    nullptr, false, site);
}

template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* destination, const T& symbol, size_t bytes,
                                      size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr, CUDA_CPU_SITE) {
  return cuda_cpu::copy_from_symbol(destination, cuda_cpu::address_of(symbol), bytes, offset, kind,
                                    stream, true, site);
}

template <class P, class T>
cudaError_t cudaGetSymbolAddress(P** address, const T& symbol, CUDA_CPU_SITE) {
  static_assert(std::is_void_v<P>,
                "cudaGetSymbolAddress takes a void**: cast the pointer's address");
  return cuda_cpu::symbol_address(reinterpret_cast<void**>(address), cuda_cpu::address_of(symbol),
                                  site);
}

template <class T>
cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol, CUDA_CPU_SITE) {
  return cuda_cpu::symbol_size(size, cuda_cpu::address_of(symbol), site);
}
