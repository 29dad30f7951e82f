// SPDX-License-Identifier: MIT
// Chapter 15: the product by cuBLAS, NVIDIA's library, that every other version stands beside.
#pragma once

#include <cublas_v2.h>

#include "../../common/common.cuh"

inline void ensure(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    on_cuda_failure(std::string(call) + " failed: " + cublasGetStatusString(status));
}

/// cuBLAS is column-major: what it sees as B^T * A^T = C^T is the row-major A * B = C.
inline void multiply_by_cublas(const Matrix& a, const Matrix& b, const Matrix& c) {
  static cublasHandle_t handle = nullptr;  // made once: that takes longer than a product
  if (handle == nullptr) ensure(cublasCreate(&handle), "cublasCreate");
  const float one = 1, zero = 0;
  ensure(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, c.width, c.height, a.width, &one, b.data,
                     b.stride, a.data, a.stride, &zero, c.data, c.stride),
         "cublasSgemm");
}

/// The row, for a program's own kind of product.
template <class Product>
constexpr Version<Product> kCublas = {"cublas", "cublasSgemm, FP32 without tensor cores",
                                      [](const Product& p) { multiply_by_cublas(p.a, p.b, p.c); }};
