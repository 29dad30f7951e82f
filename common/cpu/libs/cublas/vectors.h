// SPDX-License-Identifier: MIT
// Operations on vectors, and products of a matrix and a vector. Elements of a vector are `incx`
// apart; with a negative increment they are taken from the last to the first.
#pragma once

#include "handles.h"

/// For float and double: y = alpha * x + y; x * y; x = alpha * x; |x| by Euclid; the sum of |x_i|;
/// the place of the largest and of the smallest |x_i|, counted from 1; copy; exchange;
/// y = alpha * op(A) * x + beta * y; A = alpha * x * y^T + A.
#define CUDA_CPU_CUBLAS_VECTORS(S, s, T)                                                           \
  cublasStatus_t cublas##S##axpy(cuda_cpu::CublasHandle handle, int n, const T* alpha, const T* x, \
                                 int incx, T* y, int incy);                                        \
  cublasStatus_t cublas##S##dot(cuda_cpu::CublasHandle handle, int n, const T* x, int incx,        \
                                const T* y, int incy, T* result);                                  \
  cublasStatus_t cublas##S##scal(cuda_cpu::CublasHandle handle, int n, const T* alpha, T* x,       \
                                 int incx);                                                        \
  cublasStatus_t cublas##S##nrm2(cuda_cpu::CublasHandle handle, int n, const T* x, int incx,       \
                                 T* result);                                                       \
  cublasStatus_t cublas##S##asum(cuda_cpu::CublasHandle handle, int n, const T* x, int incx,       \
                                 T* result);                                                       \
  cublasStatus_t cublasI##s##amax(cuda_cpu::CublasHandle handle, int n, const T* x, int incx,      \
                                  int* result);                                                    \
  cublasStatus_t cublasI##s##amin(cuda_cpu::CublasHandle handle, int n, const T* x, int incx,      \
                                  int* result);                                                    \
  cublasStatus_t cublas##S##copy(cuda_cpu::CublasHandle handle, int n, const T* x, int incx, T* y, \
                                 int incy);                                                        \
  cublasStatus_t cublas##S##swap(cuda_cpu::CublasHandle handle, int n, T* x, int incx, T* y,       \
                                 int incy);                                                        \
  cublasStatus_t cublas##S##gemv(cuda_cpu::CublasHandle handle, cublasOperation_t trans, int m,    \
                                 int n, const T* alpha, const T* A, int lda, const T* x, int incx, \
                                 const T* beta, T* y, int incy);                                   \
  cublasStatus_t cublas##S##ger(cuda_cpu::CublasHandle handle, int m, int n, const T* alpha,       \
                                const T* x, int incx, const T* y, int incy, T* A, int lda);

CUDA_CPU_CUBLAS_VECTORS(S, s, float)
CUDA_CPU_CUBLAS_VECTORS(D, d, double)

#undef CUDA_CPU_CUBLAS_VECTORS
