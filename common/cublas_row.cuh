// SPDX-License-Identifier: MIT
// The row at the end of a matrix product's table: the same product by cuBLAS. Not part of
// common.cuh, since programs that include it link with cuBLAS.
#pragma once

#include <cublas_v2.h>

#include <string>

#include "check.cuh"
#include "matrix_product.cuh"
#include "measured_row.cuh"
#include "options.cuh"
#include "result_table.cuh"

/// Name of the row, also for --only and --list.
constexpr const char* kCublasRow = "cublas";

/// Makes the row known to --only and --list.
inline void name_cublas_row(Options& opt) {
  opt.version(kCublasRow, "cublasSgemm, FP32 without tensor cores");
}

/// Multiplies matrices by cuBLAS. A failed call ends the program.
class CublasMultiplier {
 public:
  CublasMultiplier() {
    ensure(cublasCreate(&handle_), "cublasCreate");
    ensure(cublasSetMathMode(handle_, CUBLAS_PEDANTIC_MATH),
           "cublasSetMathMode");  // FP32 throughout
  }
  ~CublasMultiplier() { ensure(cublasDestroy(handle_), "cublasDestroy"); }
  CublasMultiplier(const CublasMultiplier&) = delete;
  CublasMultiplier& operator=(const CublasMultiplier&) = delete;

  void multiply(const MatrixProduct& p) const {
    const float one = 1.0f, zero = 0.0f;
    // cuBLAS is column-major: what it sees as B^T * A^T = C^T is the row-major A * B = C.
    ensure(cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(p.c.width),
                       static_cast<int>(p.c.height), static_cast<int>(p.a.width), &one, p.b.data,
                       static_cast<int>(p.b.stride), p.a.data, static_cast<int>(p.a.stride), &zero,
                       p.c.data, static_cast<int>(p.c.stride)),
           "cublasSgemm");
  }

 private:
  static void ensure(cublasStatus_t status, const char* call) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    on_cuda_failure(std::string(call) + " failed: " + cublasGetStatusString(status));
  }

  cublasHandle_t handle_ = nullptr;
};

/// Adds cuBLAS's row, measured and checked as those of the versions.
inline void add_cublas_row(ResultTable& table, const MatrixProduct& p) {
  if (!table.options().wants(kCublasRow)) return;
  const CublasMultiplier cublas;
  add_measured_row(
      table, kCublasRow, p.shape.flop(), [&] { p.poison(); }, [&] { cublas.multiply(p); },
      [&] { return p.is_right(kCublasRow, &table); });
}
