// SPDX-License-Identifier: MIT
// The instructions of tensor cores on the CPU backend: what chapters/16_tensor_cores/
// instructions.cuh says in PTX, by the same names.
#pragma once

#include "../engine/arithmetic/short_floats.h"
#include "../libs/tensor/warp_instructions.h"
#include "cuda_bf16.h"
#include "cuda_runtime.h"

namespace ptx {

constexpr bool kSm80 = true, kSm89 = true, kSm90a = true;

// ---- one warp ----------------------------------------------------------------------------------

#define CUDA_CPU_MMA(name, format)                                                              \
  inline void name(float(&d)[4], const unsigned(&a)[4], const unsigned(&b)[2], CUDA_CPU_HERE) { \
    cuda_cpu::multiply_in_warp(cuda_cpu::TensorFormat::format, d, a, b, {file, line});          \
  }

CUDA_CPU_MMA(mma_m16n8k16, kBfloat16)
CUDA_CPU_MMA(mma_m16n8k16_f16, kHalf)
CUDA_CPU_MMA(mma_m16n8k8_tf32, kTf32)
CUDA_CPU_MMA(mma_m16n8k32_e4m3, kE4m3)

#undef CUDA_CPU_MMA

CUDA_CPU_TELLING void load_matrices(unsigned (&r)[4], const void* row, CUDA_CPU_HERE) {
  cuda_cpu::check_matrix_row(row, {file, line});
  cuda_cpu::exchange_rows(r, *static_cast<const cuda_cpu::MatrixRow*>(row), false, {file, line});
}

CUDA_CPU_TELLING void load_matrices_transposed(unsigned (&r)[4], const void* row, CUDA_CPU_HERE) {
  cuda_cpu::check_matrix_row(row, {file, line});
  cuda_cpu::exchange_rows(r, *static_cast<const cuda_cpu::MatrixRow*>(row), true, {file, line});
}

inline float to_tf32(float x) { return cuda_cpu::rounded_to_tf32(x); }

}  // namespace ptx
