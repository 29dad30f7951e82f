// SPDX-License-Identifier: MIT
// Copies of vectors and column-major matrices between host and device.
#pragma once

#include "types.h"

cublasStatus_t cublasSetVector(int n, int elem_size, const void* x, int incx, void* device_y,
                               int incy,
                               cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cublasStatus_t cublasGetVector(int n, int elem_size, const void* device_x, int incx, void* y,
                               int incy,
                               cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cublasStatus_t cublasSetMatrix(int rows, int columns, int elem_size, const void* A, int lda,
                               void* device_B, int ldb,
                               cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
cublasStatus_t cublasGetMatrix(int rows, int columns, int elem_size, const void* device_A, int lda,
                               void* B, int ldb,
                               cuda_cpu::Site site = {__builtin_FILE(), __builtin_LINE()});
