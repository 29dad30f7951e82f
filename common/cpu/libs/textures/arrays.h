// SPDX-License-Identifier: MIT
// Making and freeing CUDA arrays, and copies from and to them.
#pragma once

#include "../../types/site.h"
#include "array_types.h"

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                            size_t height = 0, unsigned int flags = 0, CUDA_CPU_SITE);
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned int flags = 0, CUDA_CPU_SITE);
cudaError_t cudaFreeArray(cuda_cpu::Located<cudaArray_t> array);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array);

cudaError_t cudaMemcpy2DToArray(cudaArray_t destination, size_t x, size_t y, const void* source,
                                size_t source_pitch, size_t width, size_t height,
                                cudaMemcpyKind kind, CUDA_CPU_SITE);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t destination, size_t x, size_t y,
                                     const void* source, size_t source_pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream = nullptr, CUDA_CPU_SITE);
cudaError_t cudaMemcpy2DFromArray(void* destination, size_t destination_pitch,
                                  cudaArray_const_t source, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind, CUDA_CPU_SITE);
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t destination, size_t destination_x,
                                     size_t destination_y, cudaArray_const_t source,
                                     size_t source_x, size_t source_y, size_t width, size_t height,
                                     cudaMemcpyKind kind = cudaMemcpyDeviceToDevice, CUDA_CPU_SITE);

// Deprecated in CUDA for their like with two dimensions: `bytes` run on from row to row.
cudaError_t cudaMemcpyToArray(cudaArray_t destination, size_t x, size_t y, const void* source,
                              size_t bytes, cudaMemcpyKind kind, CUDA_CPU_SITE);
cudaError_t cudaMemcpyFromArray(void* destination, cudaArray_const_t source, size_t x, size_t y,
                                size_t bytes, cudaMemcpyKind kind, CUDA_CPU_SITE);

/// Rows, and layers of them, each row as long as the pitch that cudaMallocPitch would give.
cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent, CUDA_CPU_SITE);
/// The extent's width counts bytes; layers are `ysize` rows of the memory apart.
cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent, CUDA_CPU_SITE);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent,
                              cudaStream_t stream = nullptr, CUDA_CPU_SITE);

/// Between arrays and pitched pointers, of up to three dimensions.
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy, CUDA_CPU_SITE);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream = nullptr,
                              CUDA_CPU_SITE);
