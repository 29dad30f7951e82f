// SPDX-License-Identifier: MIT
// Chapter 10: where a thread begins, and how far its next element is, when all threads of the grid
// share an array.
#pragma once

#include "../../../common/common.cuh"

__device__ inline std::size_t first_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::size_t stride() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }
