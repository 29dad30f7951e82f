// SPDX-License-Identifier: MIT
// Stands in for <library_types.h>: how libraries name the types of elements. CUDA has more; these
// are the real types that the CPU backend computes with, and those that it refuses by name.
#pragma once

typedef enum {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_8I = 3,
  CUDA_C_32F = 4,
  CUDA_C_64F = 5,
  CUDA_R_8U = 8,
  CUDA_R_32I = 10,
  CUDA_R_16BF = 14,
  CUDA_R_8F_E4M3 = 28,
  CUDA_R_8F_E5M2 = 29,
} cudaDataType_t;

typedef cudaDataType_t cudaDataType;
