// SPDX-License-Identifier: MIT
// Sums of floats are kept in double, so that their order does not change the result.
#include "vectors.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <type_traits>
#include <utility>

#include "../../report/text.h"
#include "operands.h"

namespace cuda_cpu {
namespace {

/// A vector as the caller gives it; elements that are not const are written.
template <class T>
struct Elements {
  const char *name, *increment_name;
  T* data;
  int count, increment;

  /// Element i, counted from the end if the increment is negative.
  T& operator[](int i) const {
    const long long at = increment < 0 ? static_cast<long long>(i + 1 - count) * increment
                                       : static_cast<long long>(i) * increment;
    return data[at];
  }
  CublasOperand operand() const {
    const auto step = static_cast<std::size_t>(std::abs(static_cast<long long>(increment)));
    const auto places =
        static_cast<std::size_t>(std::max(0, increment == 0 ? std::min(count, 1) : count));
    return {name, increment_name, data, sizeof(T), 1, places, step, !std::is_const_v<T>};
  }
};

template <class T>
CublasOperand matrix_operand(T* data, int rows, int columns, int leading) {
  const auto at = [](int number) { return static_cast<std::size_t>(number); };
  return {"A", "lda", data, sizeof(T), at(rows), at(columns), at(leading), !std::is_const_v<T>};
}

cublasStatus_t invalid(const CublasCall& call, const std::string& why) {
  return refuse(call, CUBLAS_STATUS_INVALID_VALUE, why);
}

/// Work that changes vectors. It is given the factor at `alpha_at`.
template <class T, class Work>
cublasStatus_t change(const CublasCall& call, const T* alpha_at,
                      std::vector<CublasOperand> operands, Work work) {
  if (!is_in_its_place(call, "alpha", alpha_at, sizeof(T), false))
    return CUBLAS_STATUS_INVALID_VALUE;
  const CublasScalar<T> alpha(call, alpha_at);
  return submit(call, std::move(operands), [work, alpha] { work(alpha.get()); });
}

/// Work whose result goes to the host, which waits for it, or to the device.
template <class Result, class Compute>
cublasStatus_t find(const CublasCall& call, std::vector<CublasOperand> operands, Result* result,
                    Compute compute) {
  if (!is_in_its_place(call, "result", result, sizeof(Result), true)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return submit(
      call, std::move(operands), [result, compute] { *result = compute(); },
      call.handle->pointers == CUBLAS_POINTER_MODE_HOST);
}

/// The same of one vector: nothing of it is read unless the increment is positive.
template <class T, class Result, class Compute>
cublasStatus_t reduce(const CublasCall& call, const T* data, int count, int increment,
                      Result* result, Compute compute) {
  const Elements<const T> x = {"x", "incx", data, increment <= 0 ? 0 : count, increment};
  return find(call, {x.operand()}, result, [=] { return compute(x); });
}

template <class T>
T norm(const Elements<const T>& x) {
  double largest = 0;
  for (int i = 0; i < x.count; ++i) {
    const double magnitude = std::fabs(static_cast<double>(x[i]));
    if (!(magnitude <= largest)) largest = magnitude;  // NaN stays
  }
  if (largest == 0 || !std::isfinite(largest)) return static_cast<T>(largest);
  double sum = 0;
  for (int i = 0; i < x.count; ++i) {
    const double part = static_cast<double>(x[i]) / largest;
    sum += part * part;
  }
  return static_cast<T>(largest * std::sqrt(sum));
}

/// The index, counted from 1, of the first element with the best magnitude; 0 if there is none.
template <class T, class Better>
int place_of(const Elements<const T>& x) {
  int place = x.count > 0 ? 1 : 0;
  for (int i = 1; i < x.count; ++i) {
    if (Better()(std::fabs(x[i]), std::fabs(x[place - 1]))) place = i + 1;
  }
  return place;
}

template <class T>
cublasStatus_t gemv(const CublasCall& call, cublasOperation_t op, int m, int n, const T* alpha_at,
                    const T* a, int lda, const T* x_data, int incx, const T* beta_at, T* y_data,
                    int incy) {
  if (op != CUBLAS_OP_N && op != CUBLAS_OP_T && op != CUBLAS_OP_C) {
    return invalid(call, format("operation %d of A", static_cast<int>(op)));
  }
  if (m < 0 || n < 0) return invalid(call, format("a size is negative: m = %d, n = %d", m, n));
  if (lda < std::max(1, m)) return invalid(call, format("lda = %d, but A has %d rows", lda, m));
  if (incx == 0 || incy == 0) return invalid(call, "an increment is 0");
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  if (!are_in_their_place(call, alpha_at, beta_at, sizeof(T))) return CUBLAS_STATUS_INVALID_VALUE;
  const CublasScalar<T> alpha(call, alpha_at), beta(call, beta_at);
  const bool transposed = op != CUBLAS_OP_N;
  const Elements<const T> x = {"x", "incx", x_data, transposed ? m : n, incx};
  const Elements<T> y = {"y", "incy", y_data, transposed ? n : m, incy};
  std::vector<CublasOperand> operands;
  if (!alpha.is(0)) {
    operands = {matrix_operand(a, m, n, lda), x.operand()};
  }
  operands.push_back(y.operand());
  return submit(call, std::move(operands), [=] {
    const T factor = alpha.get(), of_y = beta.get();
    const auto step = static_cast<std::size_t>(lda);
    for (int i = 0; i < y.count; ++i) {
      double sum = 0;
      const T* const first =
          a + (transposed ? static_cast<std::size_t>(i) * step : static_cast<std::size_t>(i));
      for (int j = 0; factor != 0 && j < x.count; ++j) {
        const auto at = static_cast<std::size_t>(j) * (transposed ? 1 : step);
        sum += static_cast<double>(first[at]) * static_cast<double>(x[j]);
      }
      const T product = factor == 0 ? 0 : factor * static_cast<T>(sum);
      y[i] = of_y == 0 ? product : product + of_y * y[i];
    }
  });
}

template <class T>
cublasStatus_t ger(const CublasCall& call, int m, int n, const T* alpha, const T* x_data, int incx,
                   const T* y_data, int incy, T* a, int lda) {
  if (m < 0 || n < 0) return invalid(call, format("a size is negative: m = %d, n = %d", m, n));
  if (incx == 0 || incy == 0) return invalid(call, "an increment is 0");
  if (lda < std::max(1, m)) return invalid(call, format("lda = %d, but A has %d rows", lda, m));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  const Elements<const T> x = {"x", "incx", x_data, m, incx}, y = {"y", "incy", y_data, n, incy};
  return change(
      call, alpha, {x.operand(), y.operand(), matrix_operand(a, m, n, lda)}, [=](T factor) {
        for (int j = 0; j < n; ++j) {
          T* const column = a + static_cast<std::size_t>(j) * static_cast<std::size_t>(lda);
          for (int i = 0; i < m; ++i) column[i] += factor * x[i] * y[j];
        }
      });
}

}  // namespace
}  // namespace cuda_cpu

using namespace cuda_cpu;

#define CUDA_CPU_CUBLAS_BEGIN(name)                                       \
  if (const auto status = begin_cublas_call(name, handle)) return status; \
  const CublasCall call = {name, handle.site, handle.value}

#define CUDA_CPU_CUBLAS_VECTORS(S, s, T)                                                           \
  cublasStatus_t cublas##S##axpy(CublasHandle handle, int n, const T* alpha, const T* x_data,      \
                                 int incx, T* y_data, int incy) {                                  \
    CUDA_CPU_CUBLAS_BEGIN("cublas" #S "axpy");                                                     \
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;                                                      \
    const Elements<const T> x = {"x", "incx", x_data, n, incx};                                    \
    const Elements<T> y = {"y", "incy", y_data, n, incy};                                          \
    return change(call, alpha, {x.operand(), y.operand()}, [=](T factor) {                         \
      for (int i = 0; i < n; ++i) y[i] += factor * x[i];                                           \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##S##dot(CublasHandle handle, int n, const T* x_data, int incx,             \
                                const T* y_data, int incy, T* result) {                            \
    CUDA_CPU_CUBLAS_BEGIN("cublas" #S "dot");                                                      \
    const Elements<const T> x = {"x", "incx", x_data, n, incx},                                    \
                            y = {"y", "incy", y_data, n, incy};                                    \
    return find(call, {x.operand(), y.operand()}, result, [=] {                                    \
      double sum = 0;                                                                              \
      for (int i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);    \
      return static_cast<T>(sum);                                                                  \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##S##scal(CublasHandle handle, int n, const T* alpha, T* x_data,            \
                                 int incx) {                                                       \
    CUDA_CPU_CUBLAS_BEGIN("cublas" #S "scal");                                                     \
    if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;                                         \
    const Elements<T> x = {"x", "incx", x_data, n, incx};                                          \
    return change(call, alpha, {x.operand()}, [=](T factor) {                                      \
      for (int i = 0; i < n; ++i) x[i] *= factor;                                                  \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##S##nrm2(CublasHandle handle, int n, const T* x_data, int incx,            \
                                 T* result) {                                                      \
    CUDA_CPU_CUBLAS_BEGIN("cublas" #S "nrm2");                                                     \
    return reduce(call, x_data, n, incx, result, norm<T>);                                         \
  }                                                                                                \
  cublasStatus_t cublas##S##asum(CublasHandle handle, int n, const T* x_data, int incx,            \
                                 T* result) {                                                      \
    CUDA_CPU_CUBLAS_BEGIN("cublas" #S "asum");                                                     \
    return reduce(call, x_data, n, incx, result, [](const Elements<const T>& x) {                  \
      double sum = 0;                                                                              \
      for (int i = 0; i < x.count; ++i) {                                                          \
        sum += std::fabs(static_cast<double>(x[i]));                                               \
      }                                                                                            \
      return static_cast<T>(sum);                                                                  \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublasI##s##amax(CublasHandle handle, int n, const T* x_data, int incx,           \
                                  int* result) {                                                   \
    CUDA_CPU_CUBLAS_BEGIN("cublasI" #s "amax");                                                    \
    return reduce(call, x_data, n, incx, result, place_of<T, std::greater<T>>);                    \
  }                                                                                                \
  cublasStatus_t cublasI##s##amin(CublasHandle handle, int n, const T* x_data, int incx,           \
                                  int* result) {                                                   \
    CUDA_CPU_CUBLAS_BEGIN("cublasI" #s "amin");                                                    \
    return reduce(call, x_data, n, incx, result, place_of<T, std::less<T>>);                       \
  }                                                                                                \
  cublasStatus_t cublas##S##copy(CublasHandle handle, int n, const T* x_data, int incx, T* y_data, \
                                 int incy) {                                                       \
    CUDA_CPU_CUBLAS_BEGIN("cublas" #S "copy");                                                     \
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;                                                      \
    const Elements<const T> x = {"x", "incx", x_data, n, incx};                                    \
    const Elements<T> y = {"y", "incy", y_data, n, incy};                                          \
    return submit(call, {x.operand(), y.operand()}, [=] {                                          \
      for (int i = 0; i < n; ++i) y[i] = x[i];                                                     \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##S##swap(CublasHandle handle, int n, T* x_data, int incx, T* y_data,       \
                                 int incy) {                                                       \
    CUDA_CPU_CUBLAS_BEGIN("cublas" #S "swap");                                                     \
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;                                                      \
    const Elements<T> x = {"x", "incx", x_data, n, incx}, y = {"y", "incy", y_data, n, incy};      \
    return submit(call, {x.operand(), y.operand()}, [=] {                                          \
      for (int i = 0; i < n; ++i) std::swap(x[i], y[i]);                                           \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##S##gemv(CublasHandle handle, cublasOperation_t trans, int m, int n,       \
                                 const T* alpha, const T* A, int lda, const T* x, int incx,        \
                                 const T* beta, T* y, int incy) {                                  \
    CUDA_CPU_CUBLAS_BEGIN("cublas" #S "gemv");                                                     \
    return gemv(call, trans, m, n, alpha, A, lda, x, incx, beta, y, incy);                         \
  }                                                                                                \
  cublasStatus_t cublas##S##ger(CublasHandle handle, int m, int n, const T* alpha, const T* x,     \
                                int incx, const T* y, int incy, T* A, int lda) {                   \
    CUDA_CPU_CUBLAS_BEGIN("cublas" #S "ger");                                                      \
    return ger(call, m, n, alpha, x, incx, y, incy, A, lda);                                       \
  }

CUDA_CPU_CUBLAS_VECTORS(S, s, float)
CUDA_CPU_CUBLAS_VECTORS(D, d, double)

#undef CUDA_CPU_CUBLAS_VECTORS
#undef CUDA_CPU_CUBLAS_BEGIN
