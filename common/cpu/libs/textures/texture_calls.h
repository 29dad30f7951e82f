// SPDX-License-Identifier: MIT
// Texture and surface objects: making and destroying them, and what they were made from.
#pragma once

#include "../../types/site.h"
#include "../../types/texture_types.h"
#include "arrays.h"

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* view, CUDA_CPU_SITE);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture, CUDA_CPU_SITE);
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture);
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description,
                                            cudaTextureObject_t texture);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource,
                                    CUDA_CPU_SITE);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface, CUDA_CPU_SITE);
