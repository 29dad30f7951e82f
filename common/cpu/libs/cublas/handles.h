// SPDX-License-Identifier: MIT
// The types of cuBLAS, with the toolkit's names and values. Handles: their stream, where scalars
// are, how exact products have to be. Copies of vectors and matrices; the names of statuses.
#pragma once

#include "../../runtime/types.h"
#include "../../types/library_types.h"
#include "../../types/site.h"

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16,
} cublasStatus_t;

typedef enum {
  CUBLAS_OP_N = 0,
  CUBLAS_OP_T = 1,
  CUBLAS_OP_C = 2,
  CUBLAS_OP_HERMITAN = 2,
  CUBLAS_OP_CONJG = 3,
} cublasOperation_t;

typedef enum {
  CUBLAS_POINTER_MODE_HOST = 0,
  CUBLAS_POINTER_MODE_DEVICE = 1,
} cublasPointerMode_t;

typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
} cublasMath_t;

typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
} cublasComputeType_t;

/// One algorithm serves all of them.
typedef enum {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
} cublasGemmAlgo_t;

/// What a cublasHandle_t points to.
struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  bool live = true;
};
typedef cublasContext* cublasHandle_t;

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
                               int incy, cuda_cpu::Site site = cuda_cpu::here());
cublasStatus_t cublasGetVector(int n, int elem_size, const void* device_x, int incx, void* y,
                               int incy, cuda_cpu::Site site = cuda_cpu::here());
cublasStatus_t cublasSetMatrix(int rows, int columns, int elem_size, const void* A, int lda,
                               void* device_B, int ldb, cuda_cpu::Site site = cuda_cpu::here());
cublasStatus_t cublasGetMatrix(int rows, int columns, int elem_size, const void* device_A, int lda,
                               void* B, int ldb, cuda_cpu::Site site = cuda_cpu::here());

const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);
