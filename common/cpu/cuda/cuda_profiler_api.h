// SPDX-License-Identifier: MIT
// Stands in for <cuda_profiler_api.h>. The two functions tell a profiler what to look at; no
// profiler is attached here, and then they do nothing on a GPU either.
#pragma once

#define __CUDA_PROFILER_API_H__

#include "cuda_runtime_api.h"

inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
