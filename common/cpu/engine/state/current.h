// SPDX-License-Identifier: MIT
// Tells which CUDA thread the calling OS thread runs: to the engine, and by threadIdx, blockIdx,
// blockDim, gridDim and warpSize to device code.
#pragma once

#include "../../types/site.h"
#include "../../types/vector_types.h"

namespace cuda_cpu {

struct Block;
struct Thread;
struct Worker;

/// The running CUDA thread, its block and the worker that runs it; null on the host. They are plain
/// pointers, so that an access calls no wrapper. A CUDA thread never migrates between OS threads,
/// so the compiler may keep their addresses.
extern __thread Thread* current_thread;
extern __thread Block* current_block;
extern __thread Worker* current_worker;

/// The built-in variables, writable. The engine writes them whenever another CUDA thread goes on.
extern __thread uint3 running_thread_index __asm__("cuda_cpu_thread_index");
extern __thread uint3 running_block_index __asm__("cuda_cpu_block_index");
extern __thread dim3 running_block_dim __asm__("cuda_cpu_block_dim");
extern __thread dim3 running_grid_dim __asm__("cuda_cpu_grid_dim");

/// True while the calling OS thread executes device code.
bool in_kernel();

/// The same for a function of both sides that asks with __CUDA_ARCH__. What is computed while it is
/// compiled is the host's.
constexpr bool on_device() { return !__builtin_is_constant_evaluated() && in_kernel(); }

/// The number of the calling CUDA thread in its block.
unsigned number_in_block();

/// Where the calling CUDA thread is.
Where where();

/// The same for a thread of one of the calling worker's blocks.
Where where_is(const Block* block, const Thread* thread);

}  // namespace cuda_cpu

// The same variables as device code knows them, which cannot assign them. They are real variables,
// not macros: a struct in the learner's program may have a member named blockDim. For one CUDA
// thread they never change, so the compiler may keep blockDim.x in a register across a barrier.
extern __thread const uint3 threadIdx __asm__("cuda_cpu_thread_index");
extern __thread const uint3 blockIdx __asm__("cuda_cpu_block_index");
extern __thread const dim3 blockDim __asm__("cuda_cpu_block_dim");
extern __thread const dim3 gridDim __asm__("cuda_cpu_grid_dim");

constexpr int warpSize = 32;
