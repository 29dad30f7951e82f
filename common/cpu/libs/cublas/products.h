// SPDX-License-Identifier: MIT
// Products and sums of matrices: cublasSgemm and its relatives, cublasSgeam.
#pragma once

#include "handles.h"

/// For float and double: C = alpha * op(A) * op(B) + beta * C, of one and of a batch at equal
/// distances; C = alpha * op(A) + beta * op(B).
#define CUDA_CPU_CUBLAS_PRODUCTS(S, T)                                                           \
  cublasStatus_t cublas##S##gemm(cuda_cpu::CublasHandle handle, cublasOperation_t transa,        \
                                 cublasOperation_t transb, int m, int n, int k, const T* alpha,  \
                                 const T* A, int lda, const T* B, int ldb, const T* beta, T* C,  \
                                 int ldc);                                                       \
  cublasStatus_t cublas##S##gemmStridedBatched(                                                  \
      cuda_cpu::CublasHandle handle, cublasOperation_t transa, cublasOperation_t transb, int m,  \
      int n, int k, const T* alpha, const T* A, int lda, long long strideA, const T* B, int ldb, \
      long long strideB, const T* beta, T* C, int ldc, long long strideC, int batchCount);       \
  cublasStatus_t cublas##S##geam(cuda_cpu::CublasHandle handle, cublasOperation_t transa,        \
                                 cublasOperation_t transb, int m, int n, const T* alpha,         \
                                 const T* A, int lda, const T* beta, const T* B, int ldb, T* C,  \
                                 int ldc);

CUDA_CPU_CUBLAS_PRODUCTS(S, float)
CUDA_CPU_CUBLAS_PRODUCTS(D, double)

#undef CUDA_CPU_CUBLAS_PRODUCTS

/// The types of A, B and C and of the sums are arguments: float throughout; __half or
/// __nv_bfloat16 for A and B, and that or float for C, with sums in float; double throughout.
cublasStatus_t cublasGemmEx(cuda_cpu::CublasHandle handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C,
                            cudaDataType Ctype, int ldc, cublasComputeType_t computeType,
                            cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmStridedBatchedEx(cuda_cpu::CublasHandle handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, long long strideA, const void* B,
                                          cudaDataType Btype, int ldb, long long strideB,
                                          const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          long long strideC, int batchCount,
                                          cublasComputeType_t computeType, cublasGemmAlgo_t algo);
