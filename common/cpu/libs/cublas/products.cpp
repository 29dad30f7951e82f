// SPDX-License-Identifier: MIT
#include "products.h"

#include <algorithm>
#include <string>
#include <utility>

#include "../../report/text.h"
#include "operands.h"
#include "product_kernel.h"

namespace cuda_cpu {
namespace {

bool is_short(cudaDataType type) { return type == CUDA_R_16F || type == CUDA_R_16BF; }

std::size_t size_of(cudaDataType type) { return type == CUDA_R_64F ? 8 : is_short(type) ? 2 : 4; }

bool is_operation(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

/// One matrix of a product as the caller gives it.
struct Given {
  const char *name, *leading_name;
  cublasOperation_t op;
  const void* data;
  cudaDataType type;
  int leading;
  long long distance = 0;

  /// Rows in memory of what is rows x columns after op().
  int rows(int rows_after, int columns_after) const {
    return op == CUBLAS_OP_N ? rows_after : columns_after;
  }
  CublasOperand operand(int rows_after, int columns_after, int count, bool is_written) const {
    const int height = rows(rows_after, columns_after);
    const int width = op == CUBLAS_OP_N ? columns_after : rows_after;
    const auto at = [](int number) { return static_cast<std::size_t>(number); };
    const std::size_t size = size_of(type);
    return {name,      leading_name, data,       size,      at(height),
            at(width), at(leading),  is_written, at(count), distance};
  }
  Factor factor(int index) const {
    const auto* const start =
        static_cast<const char*>(data) + index * distance * static_cast<long long>(size_of(type));
    const auto step = static_cast<std::size_t>(leading);
    return {start, type, op == CUBLAS_OP_N ? 1 : step, op == CUBLAS_OP_N ? step : 1};
  }
};

/// Success if leading dimension and operation fit; else reports it.
cublasStatus_t check_shape(const CublasCall& call, const Given& it, int rows_after,
                           int columns_after) {
  if (!is_operation(it.op)) {
    return refuse(call, CUBLAS_STATUS_INVALID_VALUE,
                  format("operation %d of %s", static_cast<int>(it.op), it.name),
                  "there are CUBLAS_OP_N, CUBLAS_OP_T and CUBLAS_OP_C");
  }
  const int needed = std::max(1, it.rows(rows_after, columns_after));
  if (it.leading >= needed) return CUBLAS_STATUS_SUCCESS;
  return refuse(
      call, CUBLAS_STATUS_INVALID_VALUE,
      format("%s = %d, but %s has %d rows in memory%s", it.leading_name, it.leading, it.name,
             it.rows(rows_after, columns_after), it.op == CUBLAS_OP_N ? "" : " (it is transposed)"),
      "the leading dimension counts from column to column: matrices are column-major "
      "here");
}

cublasStatus_t check_sizes(const CublasCall& call, int m, int n, int k, int count) {
  if (m >= 0 && n >= 0 && k >= 0 && count >= 0) return CUBLAS_STATUS_SUCCESS;
  return refuse(call, CUBLAS_STATUS_INVALID_VALUE,
                format("a size is negative: m = %d, n = %d, k = %d%s", m, n, k,
                       count < 0 ? ", and so is the batch's" : ""));
}

cublasStatus_t refuse_null(const CublasCall& call, const char* name) {
  return refuse(call, CUBLAS_STATUS_INVALID_VALUE, format("%s is a null pointer", name));
}

/// `count` products, in T.
template <class T>
cublasStatus_t run_products(const CublasCall& call, int m, int n, int k, int count,
                            const void* alpha_at, const Given& a, const Given& b,
                            const void* beta_at, const Given& c, Inputs inputs) {
  if (const auto status = check_sizes(call, m, n, k, count)) return status;
  if (const auto status = check_shape(call, a, m, k)) return status;
  if (const auto status = check_shape(call, b, k, n)) return status;
  if (const auto status = check_shape(call, c, m, n)) return status;
  if (m == 0 || n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  if (!are_in_their_place(call, alpha_at, beta_at, sizeof(T))) return CUBLAS_STATUS_INVALID_VALUE;
  const CublasScalar<T> alpha(call, alpha_at), beta(call, beta_at);
  std::vector<CublasOperand> operands;
  if (c.data == nullptr) return refuse_null(call, "C");
  if (k != 0 && !alpha.is(0)) {
    if (a.data == nullptr) return refuse_null(call, "A");
    if (b.data == nullptr) return refuse_null(call, "B");
    operands = {a.operand(m, k, count, false), b.operand(k, n, count, false)};
  }
  operands.push_back(c.operand(m, n, count, true));
  return submit(call, operands, [=] {
    for (int i = 0; i < count; ++i) {
      const Factor to = c.factor(i);
      multiply<T>(
          {static_cast<std::size_t>(m), static_cast<std::size_t>(n), static_cast<std::size_t>(k),
           a.factor(i), b.factor(i), const_cast<void*>(to.data), to.type, to.column_step, inputs},
          alpha.get(), beta.get());
    }
  });
}

/// How a handle's mode lets elements of type float be read.
Inputs inputs_of(const cublasContext& handle) {
  const int kind = handle.math & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  return kind == CUBLAS_TF32_TENSOR_OP_MATH ? Inputs::kTf32 : Inputs::kAsTheyAre;
}

const char* name_of(cudaDataType type) {
  static constexpr std::pair<cudaDataType, const char*> kNames[] = {
      {CUDA_R_32F, "CUDA_R_32F"},   {CUDA_R_64F, "CUDA_R_64F"}, {CUDA_R_16F, "CUDA_R_16F"},
      {CUDA_R_16BF, "CUDA_R_16BF"}, {CUDA_R_8I, "CUDA_R_8I"},   {CUDA_R_32I, "CUDA_R_32I"}};
  for (const auto& [known, name] : kNames) {
    if (known == type) return name;
  }
  return "another type";
}

/// The products of cublasGemmEx that are computed here.
bool is_supported(cudaDataType a, cudaDataType b, cudaDataType c, cublasComputeType_t compute) {
  if (a != b) return false;
  switch (compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return a == CUDA_R_64F && c == CUDA_R_64F;
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return a == CUDA_R_32F && c == CUDA_R_32F;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      return (a == CUDA_R_32F || is_short(a)) && (c == CUDA_R_32F || (is_short(a) && c == a));
    default:
      return false;
  }
}

cublasStatus_t run_product(const char* name, const CublasHandle& handle, int m, int n, int k,
                           int count, const void* alpha, const Given& a, const Given& b,
                           const void* beta, const Given& c, cublasComputeType_t compute) {
  if (const auto status = begin_cublas_call(name, handle)) return status;
  const CublasCall call = {name, handle.site, handle.value};
  if (!is_supported(a.type, b.type, c.type, compute)) {
    return refuse(
        call, CUBLAS_STATUS_NOT_SUPPORTED,
        format("A of %s, B of %s, C of %s with compute type %d is not supported", name_of(a.type),
               name_of(b.type), name_of(c.type), static_cast<int>(compute)),
        "on the CPU backend there are: CUDA_R_32F; CUDA_R_16F or CUDA_R_16BF, with C of "
        "that or of CUDA_R_32F; all with CUBLAS_COMPUTE_32F; and CUDA_R_64F with "
        "CUBLAS_COMPUTE_64F");
  }
  const Inputs inputs = compute == CUBLAS_COMPUTE_32F_FAST_TF32  ? Inputs::kTf32
                        : compute == CUBLAS_COMPUTE_32F_PEDANTIC ? Inputs::kAsTheyAre
                                                                 : inputs_of(*handle.value);
  const auto run = a.type == CUDA_R_64F ? run_products<double> : run_products<float>;
  return run(call, m, n, k, count, alpha, a, b, beta, c, inputs);
}

template <class T>
constexpr cudaDataType kTypeOf = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F;

template <class T>
constexpr cublasComputeType_t kComputeOf = sizeof(T) == 8 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;

template <class T>
cublasStatus_t run_sum(const char* name, const CublasHandle& handle, int m, int n,
                       const void* alpha_at, const Given& a, const void* beta_at, const Given& b,
                       const Given& c) {
  if (const auto status = begin_cublas_call(name, handle)) return status;
  const CublasCall call = {name, handle.site, handle.value};
  if (const auto status = check_sizes(call, m, n, 0, 0)) return status;
  if (const auto status = check_shape(call, a, m, n)) return status;
  if (const auto status = check_shape(call, b, m, n)) return status;
  if (const auto status = check_shape(call, c, m, n)) return status;
  for (const Given* const in : {&a, &b}) {
    if (in->data != c.data || c.data == nullptr) continue;
    if (in->op == CUBLAS_OP_N && in->leading == c.leading) continue;
    return refuse(call, CUBLAS_STATUS_INVALID_VALUE,
                  format("C is %s, so %s must not be transposed and %s must be ldc", in->name,
                         in->name, in->leading_name));
  }
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  if (!are_in_their_place(call, alpha_at, beta_at, sizeof(T))) return CUBLAS_STATUS_INVALID_VALUE;
  const CublasScalar<T> alpha(call, alpha_at), beta(call, beta_at);
  std::vector<CublasOperand> operands;
  if (c.data == nullptr) return refuse_null(call, "C");
  if (!alpha.is(0)) {
    if (a.data == nullptr) return refuse_null(call, "A");
    operands.push_back(a.operand(m, n, 1, false));
  }
  if (!beta.is(0)) {
    if (b.data == nullptr) return refuse_null(call, "B");
    operands.push_back(b.operand(m, n, 1, false));
  }
  operands.push_back(c.operand(m, n, 1, true));
  return submit(call, operands, [=] {
    const Factor from_a = a.factor(0), from_b = b.factor(0), to = c.factor(0);
    const T x = alpha.get(), y = beta.get();
    const auto at = [](const Factor& f, std::size_t i, std::size_t j) {
      return static_cast<const T*>(f.data) + i * f.row_step + j * f.column_step;
    };
    for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i) {
        // With a factor of 0 the matrix is not read, so that a NaN in it does no harm.
        const T first = x == 0 ? 0 : x * *at(from_a, i, j);
        *const_cast<T*>(at(to, i, j)) = y == 0 ? first : first + y * *at(from_b, i, j);
      }
    }
  });
}

}  // namespace
}  // namespace cuda_cpu

using namespace cuda_cpu;

#define CUDA_CPU_CUBLAS_PRODUCTS(S, T)                                                             \
  cublasStatus_t cublas##S##gemm(CublasHandle handle, cublasOperation_t transa,                    \
                                 cublasOperation_t transb, int m, int n, int k, const T* alpha,    \
                                 const T* A, int lda, const T* B, int ldb, const T* beta, T* C,    \
                                 int ldc) {                                                        \
    constexpr cudaDataType type = kTypeOf<T>;                                                      \
    return run_product("cublas" #S "gemm", handle, m, n, k, 1, alpha,                              \
                       {"A", "lda", transa, A, type, lda}, {"B", "ldb", transb, B, type, ldb},     \
                       beta, {"C", "ldc", CUBLAS_OP_N, C, type, ldc}, kComputeOf<T>);              \
  }                                                                                                \
  cublasStatus_t cublas##S##gemmStridedBatched(                                                    \
      CublasHandle handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,       \
      int k, const T* alpha, const T* A, int lda, long long strideA, const T* B, int ldb,          \
      long long strideB, const T* beta, T* C, int ldc, long long strideC, int batchCount) {        \
    constexpr cudaDataType type = kTypeOf<T>;                                                      \
    return run_product("cublas" #S "gemmStridedBatched", handle, m, n, k, batchCount, alpha,       \
                       {"A", "lda", transa, A, type, lda, strideA},                                \
                       {"B", "ldb", transb, B, type, ldb, strideB}, beta,                          \
                       {"C", "ldc", CUBLAS_OP_N, C, type, ldc, strideC}, kComputeOf<T>);           \
  }                                                                                                \
  cublasStatus_t cublas##S##geam(                                                                  \
      CublasHandle handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,       \
      const T* alpha, const T* A, int lda, const T* beta, const T* B, int ldb, T* C, int ldc) {    \
    constexpr cudaDataType type = kTypeOf<T>;                                                      \
    return run_sum<T>("cublas" #S "geam", handle, m, n, alpha, {"A", "lda", transa, A, type, lda}, \
                      beta, {"B", "ldb", transb, B, type, ldb},                                    \
                      {"C", "ldc", CUBLAS_OP_N, C, type, ldc});                                    \
  }

CUDA_CPU_CUBLAS_PRODUCTS(S, float)
CUDA_CPU_CUBLAS_PRODUCTS(D, double)

#undef CUDA_CPU_CUBLAS_PRODUCTS

cublasStatus_t cublasGemmEx(CublasHandle handle, cublasOperation_t transa, cublasOperation_t transb,
                            int m, int n, int k, const void* alpha, const void* A,
                            cudaDataType Atype, int lda, const void* B, cudaDataType Btype, int ldb,
                            const void* beta, void* C, cudaDataType Ctype, int ldc,
                            cublasComputeType_t computeType, cublasGemmAlgo_t) {
  return run_product("cublasGemmEx", handle, m, n, k, 1, alpha, {"A", "lda", transa, A, Atype, lda},
                     {"B", "ldb", transb, B, Btype, ldb}, beta,
                     {"C", "ldc", CUBLAS_OP_N, C, Ctype, ldc}, computeType);
}

cublasStatus_t cublasGemmStridedBatchedEx(
    CublasHandle handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
    const void* alpha, const void* A, cudaDataType Atype, int lda, long long strideA, const void* B,
    cudaDataType Btype, int ldb, long long strideB, const void* beta, void* C, cudaDataType Ctype,
    int ldc, long long strideC, int batchCount, cublasComputeType_t computeType, cublasGemmAlgo_t) {
  return run_product("cublasGemmStridedBatchedEx", handle, m, n, k, batchCount, alpha,
                     {"A", "lda", transa, A, Atype, lda, strideA},
                     {"B", "ldb", transb, B, Btype, ldb, strideB}, beta,
                     {"C", "ldc", CUBLAS_OP_N, C, Ctype, ldc, strideC}, computeType);
}
