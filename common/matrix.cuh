// SPDX-License-Identifier: MIT
// What the chapters on matrix products share: the view, the host reference with its error bound,
// and cuBLAS's row. Not part of common.cuh, since GPU builds that include it link with cuBLAS.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "backend.cuh"
#include "check.cuh"
#include "options.cuh"
#include "result_table.cuh"
#include "timer.cuh"
#include "verify.cuh"

#ifndef __CUDA_CPU__
#include <cublas_v2.h>
#endif

/// A view of a row-major matrix, or of a part of one: element (row, column) is
/// data[row * stride + column]. Trivially copyable, so that kernels take it by value. Sides are
/// 32-bit, since index arithmetic in 64 bits costs several instructions per load; their product is
/// 64-bit.
struct Matrix {
  float* data;
  unsigned height, width;  ///< rows, columns
  unsigned stride;         ///< elements from one row to the next; at least width

  __host__ __device__ float& at(unsigned row, unsigned column) const {
    return data[static_cast<std::size_t>(row) * stride + column];
  }

  /// Elements from the first to the last row, padding included.
  std::size_t elements() const { return static_cast<std::size_t>(height) * stride; }
};

/// C = A * B on the host, in double, with all cores: the reference. `a` is m x k, `b` is k x n,
/// both row-major and dense. The result is m x n.
inline std::vector<double> multiply_on_host(const std::vector<float>& a,
                                            const std::vector<float>& b, std::size_t m,
                                            std::size_t n, std::size_t k) {
  std::vector<double> c(m * n, 0.0);
  const std::size_t workers =
      std::max<std::size_t>(1, std::min<std::size_t>(std::thread::hardware_concurrency(), m));
  std::vector<std::thread> threads;
  for (std::size_t w = 0; w < workers; ++w) {
    threads.emplace_back([&, w] {
      for (std::size_t row = w; row < m; row += workers) {
        for (std::size_t i = 0; i < k;
             ++i) {  // along rows of b: the compiler vectorises the inner loop
          const double factor = a[row * k + i];
          for (std::size_t column = 0; column < n; ++column) {
            c[row * n + column] += factor * b[i * n + column];
          }
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  return c;
}

/// How far a float dot product of length k may be from the exact one, in whatever order it is
/// added: gamma_k * sum |a_i b_i| with gamma_k = k u / (1 - k u), u = 2^-24 (Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2nd ed., section 3.1). The sum of magnitudes is bounded by
/// the product of the two Euclidean norms (Cauchy and Schwarz). One tolerance per element of C,
/// from the norms of the rows of A and of the columns of B.
class DotProductBound {
 public:
  DotProductBound(const std::vector<float>& a, const std::vector<float>& b, std::size_t m,
                  std::size_t n, std::size_t k)
      : columns_(n), row_norm_(m, 0.0), column_norm_(n, 0.0) {
    const double ku = static_cast<double>(k) * FLT_EPSILON / 2;
    gamma_ = ku / (1 - ku);
    for (std::size_t row = 0; row < m; ++row) {
      for (std::size_t i = 0; i < k; ++i)
        row_norm_[row] += static_cast<double>(a[row * k + i]) * a[row * k + i];
    }
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t column = 0; column < n; ++column) {
        column_norm_[column] += static_cast<double>(b[i * n + column]) * b[i * n + column];
      }
    }
    for (double& x : row_norm_) x = std::sqrt(x);
    for (double& x : column_norm_) x = std::sqrt(x);
  }

  /// The tolerance of element `index` of a dense row-major C.
  double operator()(std::size_t index) const {
    return gamma_ * row_norm_[index / columns_] * column_norm_[index % columns_];
  }

 private:
  std::size_t columns_;
  double gamma_ = 0;
  std::vector<double> row_norm_, column_norm_;
};

/// Name of the row, also for --only and --list.
constexpr const char* kCublasRow = "cublas";

/// Makes the row known to --only and --list where there is one.
inline void name_cublas_row(Options& opt) {
  if (kOnGpu) opt.version(kCublasRow, "cublasSgemm, FP32 without tensor cores");
}

/// Adds cuBLAS's row for C = A * B (device memory). `check` copies C and compares it.
template <class Check>
void add_cublas_row(ResultTable& table, const Options& opt, Matrix a, Matrix b, Matrix c,
                    Check check) {
#ifndef __CUDA_CPU__
  if (!opt.wants(kCublasRow)) return;
  const auto ensure = [](cublasStatus_t status, const char* call) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    std::fprintf(stderr, "%s failed: %s\n", call, cublasGetStatusString(status));
    std::exit(kExitWrong);
  };
  cublasHandle_t handle = nullptr;
  ensure(cublasCreate(&handle), "cublasCreate");
  ensure(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");  // FP32 all the way
  const float one = 1.0f, zero = 0.0f;
  const auto run = [&] {
    // cuBLAS is column-major: what it sees as B^T * A^T = C^T is the row-major A * B = C.
    ensure(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(c.width),
                       static_cast<int>(c.height), static_cast<int>(a.width), &one, b.data,
                       static_cast<int>(b.stride), a.data, static_cast<int>(a.stride), &zero,
                       c.data, static_cast<int>(c.stride)),
           "cublasSgemm");
  };
  CUDA_CHECK(cudaMemset(c.data, 0xff, c.elements() * sizeof(float)));
  run();
  bool ok = check(kCublasRow);
  const Timing t = time_launches(opt.samples, run);
  ok = check(kCublasRow) && ok;
  const double flop = 2.0 * static_cast<double>(c.height) * static_cast<double>(c.width) *
                      static_cast<double>(a.width);
  table.add(kCublasRow, t, flop, ok);
  ensure(cublasDestroy(handle), "cublasDestroy");
#else
  (void)table, (void)opt, (void)a, (void)b, (void)c, (void)check;
#endif
}
