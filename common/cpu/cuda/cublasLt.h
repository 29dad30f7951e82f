// SPDX-License-Identifier: MIT
// Stands in for <cublasLt.h> on the CPU backend: handles and nothing else, for programs that make
// one with their other handles. The functions that compute products are refused in one line
// (prepass/refused.h); <cublas_v2.h> has products.
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
