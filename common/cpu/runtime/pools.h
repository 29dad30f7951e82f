// SPDX-License-Identifier: MIT
// Memory pools, from which cudaMallocAsync takes. What is freed is given
// back at once, whatever the threshold: so a pool here is a limit and a count of what was taken
// from it.
#pragma once

#include <cstddef>

#include "../types/site.h"
#include "types.h"

namespace cuda_cpu {

/// Whether *pool (nullptr: becomes the device's current one) is there, and has room for so many
/// bytes. An error code; a pool that was destroyed is reported.
int check_pool(cudaMemPool_t* pool, std::size_t bytes, Site site);

/// Counts what was taken from a pool and given back. Memory of no pool (nullptr) is not counted.
void take_from_pool(cudaMemPool_t pool, std::size_t bytes);
void return_to_pool(cudaMemPool_t pool, std::size_t bytes);

/// Ends every pool but the default one (cudaDeviceReset).
void forget_pools();

}  // namespace cuda_cpu

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties,
                              CUDA_CPU_SITE);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool, CUDA_CPU_SITE);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count);
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location);
