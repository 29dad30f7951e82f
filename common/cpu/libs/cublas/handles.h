// SPDX-License-Identifier: MIT
// Handles of cuBLAS: their stream, where scalars are, how exact products have to be. Copies of
// vectors and matrices.
#pragma once

#include "../../types/library_types.h"
#include "../../types/site.h"
#include "types.h"

namespace cuda_cpu {

/// A handle with the line of the call, for reports.
using CublasHandle = Located<cublasHandle_t>;

/// What every call with a handle begins with: success, or why the call cannot be made. An unknown
/// handle is reported.
cublasStatus_t begin_cublas_call(const char* call, const CublasHandle& handle);

}  // namespace cuda_cpu

cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cuda_cpu::CublasHandle handle);
cublasStatus_t cublasGetVersion(cuda_cpu::CublasHandle handle, int* version);
cublasStatus_t cublasSetStream(cuda_cpu::CublasHandle handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cuda_cpu::CublasHandle handle, cudaStream_t* stream);
cublasStatus_t cublasSetPointerMode(cuda_cpu::CublasHandle handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cuda_cpu::CublasHandle handle, cublasPointerMode_t* mode);
cublasStatus_t cublasSetMathMode(cuda_cpu::CublasHandle handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cuda_cpu::CublasHandle handle, cublasMath_t* mode);
/// Copies of vectors and column-major matrices between host and device.
cublasStatus_t cublasSetVector(int n, int elem_size, const void* x, int incx, void* device_y,
                               int incy, CUDA_CPU_SITE);
cublasStatus_t cublasGetVector(int n, int elem_size, const void* device_x, int incx, void* y,
                               int incy, CUDA_CPU_SITE);
cublasStatus_t cublasSetMatrix(int rows, int columns, int elem_size, const void* A, int lda,
                               void* device_B, int ldb, CUDA_CPU_SITE);
cublasStatus_t cublasGetMatrix(int rows, int columns, int elem_size, const void* device_A, int lda,
                               void* B, int ldb, CUDA_CPU_SITE);
