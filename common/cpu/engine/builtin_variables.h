// SPDX-License-Identifier: MIT
// threadIdx, blockIdx, blockDim, gridDim, warpSize. They are real variables, not macros: a struct
// in the learner's program may have a member named blockDim.
#pragma once

#include "../types/vector_types.h"

// The engine writes them (current.h), under the names after __asm__, whenever another CUDA thread
// goes on. Here they are const, since device code cannot assign them. For one CUDA thread they
// never change, so the compiler may keep blockDim.x in a register across a barrier.
extern __thread const uint3 threadIdx __asm__("cuda_cpu_thread_index");
extern __thread const uint3 blockIdx __asm__("cuda_cpu_block_index");
extern __thread const dim3 blockDim __asm__("cuda_cpu_block_dim");
extern __thread const dim3 gridDim __asm__("cuda_cpu_grid_dim");

constexpr int warpSize = 32;
