// SPDX-License-Identifier: MIT
// The row at the end of a matrix product's table: the same product by cuBLAS. It needs a GPU; on
// the CPU backend the row is left out. Not part of common.cuh, since GPU builds that include it
// link with cuBLAS.
#pragma once

#include <string>

#include "backend.cuh"
#include "check.cuh"
#include "matrix_product.cuh"
#include "measured_row.cuh"
#include "options.cuh"
#include "result_table.cuh"

#ifndef __CUDA_CPU__
#include <cublas_v2.h>
#endif

/// Name of the row, also for --only and --list.
constexpr const char* kCublasRow = "cublas";

/// Makes the row known to --only and --list where there is one.
inline void name_cublas_row(Options& opt) {
  if (kOnGpu) opt.version(kCublasRow, "cublasSgemm, FP32 without tensor cores");
}

/// Adds cuBLAS's row, measured and checked as those of the versions.
inline void add_cublas_row(ResultTable& table, const MatrixProduct& p) {
#ifndef __CUDA_CPU__
  if (!table.options().wants(kCublasRow)) return;
  const auto ensure = [](cublasStatus_t status, const char* call) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    on_cuda_failure(std::string(call) + " failed: " + cublasGetStatusString(status));
  };
  cublasHandle_t handle = nullptr;
  ensure(cublasCreate(&handle), "cublasCreate");
  ensure(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");  // FP32 all the way
  const float one = 1.0f, zero = 0.0f;
  const auto multiply = [&] {
    // cuBLAS is column-major: what it sees as B^T * A^T = C^T is the row-major A * B = C.
    ensure(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(p.c.width),
                       static_cast<int>(p.c.height), static_cast<int>(p.a.width), &one, p.b.data,
                       static_cast<int>(p.b.stride), p.a.data, static_cast<int>(p.a.stride), &zero,
                       p.c.data, static_cast<int>(p.c.stride)),
           "cublasSgemm");
  };
  add_measured_row(
      table, kCublasRow, p.shape.flop(), [&] { p.poison(); }, multiply,
      [&] { return p.is_right(kCublasRow); });
  ensure(cublasDestroy(handle), "cublasDestroy");
#else
  (void)table, (void)p;
#endif
}
