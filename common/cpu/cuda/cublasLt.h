// SPDX-License-Identifier: MIT
// Stands in for <cublasLt.h> on the CPU backend: handles and nothing else, for programs that make
// one with their other handles. What products are made of is refused in one line; <cublas_v2.h> has
// products.
#pragma once

#include "cublas_v2.h"

typedef struct cublasLtContext* cublasLtHandle_t;

/// The handle is one of cuBLAS, by which a wrong one is known.
inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return cublasCreate(reinterpret_cast<cublasHandle_t*>(handle));
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return cublasDestroy(reinterpret_cast<cublasHandle_t>(handle));
}

// A table.
// clang-format off
#define cublasLtMatmulDesc_t CUDA_CPU_NO_TYPE("cublasLtMatmulDesc_t: the CPU backend has no products of cuBLASLt, those of <cublas_v2.h> it has")
#define cublasLtMatrixLayout_t CUDA_CPU_NO_TYPE("cublasLtMatrixLayout_t: the CPU backend has no products of cuBLASLt, those of <cublas_v2.h> it has")
#define cublasLtMatmulPreference_t CUDA_CPU_NO_TYPE("cublasLtMatmulPreference_t: the CPU backend has no products of cuBLASLt, those of <cublas_v2.h> it has")
#define cublasLtMatmulAlgo_t CUDA_CPU_NO_TYPE("cublasLtMatmulAlgo_t: the CPU backend has no products of cuBLASLt, those of <cublas_v2.h> it has")
#define cublasLtMatmulHeuristicResult_t CUDA_CPU_NO_TYPE("cublasLtMatmulHeuristicResult_t: the CPU backend has no products of cuBLASLt, those of <cublas_v2.h> it has")
#define cublasLtMatmul CUDA_CPU_NO_CALL("cublasLtMatmul: the CPU backend has no products of cuBLASLt, those of <cublas_v2.h> it has")
#define cublasLtMatrixTransform CUDA_CPU_NO_CALL("cublasLtMatrixTransform: the CPU backend has no products of cuBLASLt, those of <cublas_v2.h> it has")
// clang-format on
