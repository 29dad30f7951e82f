// SPDX-License-Identifier: MIT
// The right result of a matrix product, computed on the host, and a bound of the error.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <thread>
#include <vector>

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
/// added. Certain is gamma_k * sum |a_i b_i| with gamma_k = k u / (1 - k u), u = 2^-24 (Higham,
/// "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 3.1), but so far off only if
/// all roundings err the same way. If they err like coins, their sum grows with the root of their
/// number: lambda * sqrt(k) * u instead, exceeded with a probability of about 2 exp(-lambda^2 / 2)
/// even if all terms have the same sign (Higham and Mary, "A New Approach to Probabilistic Rounding
/// Error Analysis", 2019). With terms of both signs, as here, the error is far below it. The
/// smaller one is taken. The sum of magnitudes is bounded by the product of the two Euclidean norms
/// (Cauchy and Schwarz). One tolerance per element of C, from the norms of the rows of A and of the
/// columns of B.
class DotProductBound {
 public:
  DotProductBound(const std::vector<float>& a, const std::vector<float>& b, std::size_t m,
                  std::size_t n, std::size_t k)
      : columns_(n), row_norm_(m, 0.0), column_norm_(n, 0.0) {
    constexpr double kLambda = 3, kUnit = FLT_EPSILON / 2;
    const double ku = static_cast<double>(k) * kUnit;
    factor_ = std::min(ku / (1 - ku), kLambda * std::sqrt(static_cast<double>(k)) * kUnit);
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
    return factor_ * row_norm_[index / columns_] * column_norm_[index % columns_];
  }

 private:
  std::size_t columns_;
  double factor_ = 0;
  std::vector<double> row_norm_, column_norm_;
};
