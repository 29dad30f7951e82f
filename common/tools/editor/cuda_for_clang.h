// SPDX-License-Identifier: MIT
// What clangd reads before a .cu file when no CUDA toolkit is there: clang's own CUDA mode
// understands launches, __global__ and __shared__, and the CPU backend's headers declare everything
// else. compile_commands.py names this file; no program includes it.
//
// The order matters. clang's wrappers of <new> and <algorithm> want the keywords as attributes; the
// standard library is host code; the C functions and the CPU backend serve both sides.
#pragma once

// clang-format off
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#include <cstdlib>
#include <new>
#include <algorithm>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>
#undef __host__
#undef __device__

#pragma clang force_cuda_host_device begin
#include <math.h>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <assert.h>
#include "cuda_runtime.h"
#include "cooperative_groups.h"
#include "cooperative_groups/memcpy_async.h"
#include "cooperative_groups/reduce.h"
#include "cooperative_groups/scan.h"
#include "cuda/atomic"
#include "cuda/barrier"
#include "cuda/pipeline"
#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_pipeline.h"
#include "mma.h"
#include "tensor_instructions.h"
// A launch is a call of one of these; which one depends on the version of CUDA that clang goes by.
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared = 0, CUstream_st* stream = nullptr);
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, std::size_t shared = 0, CUstream_st* stream = nullptr);
#pragma clang force_cuda_host_device end

// The CPU backend's keywords say nothing; clang's mean what they mean on a GPU, so that a call of a host
// function from a kernel is an error in the editor as well.
#undef __global__
#undef __device__
#undef __host__
#undef __constant__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
// A constant that only launch bounds name, or code for GPUs, is no mistake.
#pragma clang diagnostic ignored "-Wunused-const-variable"

// Between an attribute and a type clang wants no keyword: __shared__ alignas(16) float x[4].
#define alignas(bytes) __attribute__((aligned(bytes)))

// The C functions that the standard library's headers above have declared for the host alone.
extern "C" {
__device__ int printf(const char* format, ...);
__device__ int abs(int value) noexcept;
}
