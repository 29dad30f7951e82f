// SPDX-License-Identifier: MIT
// Handles of cuBLAS: their stream, where scalars are, how exact products have to be; and the names
// of statuses.
#pragma once

#include "types.h"

cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cuda_cpu::CublasHandle handle);
cublasStatus_t cublasGetVersion(cuda_cpu::CublasHandle handle, int* version);
cublasStatus_t cublasSetStream(cuda_cpu::CublasHandle handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cuda_cpu::CublasHandle handle, cudaStream_t* stream);
cublasStatus_t cublasSetPointerMode(cuda_cpu::CublasHandle handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cuda_cpu::CublasHandle handle, cublasPointerMode_t* mode);
cublasStatus_t cublasSetMathMode(cuda_cpu::CublasHandle handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cuda_cpu::CublasHandle handle, cublasMath_t* mode);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);

/// What a cublasHandle_t points to.
struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
};

namespace cuda_cpu {

/// What every call with a handle begins with: success, or why the call cannot be made. An unknown
/// handle is reported.
cublasStatus_t begin_cublas_call(const char* call, const CublasHandle& handle);

}  // namespace cuda_cpu
