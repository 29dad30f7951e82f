// SPDX-License-Identifier: MIT
// What the chapters on matrix products share (07, 08, 14, 15): a view of a matrix, and a product
// with the reference and the error bound that it is compared with.
#pragma once

#include <cfloat>
#include <thread>

#include "compare.cuh"
#include "memory.cuh"

/// A view of a row-major matrix, or of a part of one: element (row, column) is
/// data[row * stride + column]. Kernels take it by value. Sides have 32 bits, since index
/// arithmetic in 64 bits costs several instructions per load; their product has 64.
struct Matrix {
  float* data;
  unsigned height, width;  ///< rows, columns
  unsigned stride;         ///< elements from one row to the next; at least width

  __host__ __device__ float& at(unsigned row, unsigned column) const {
    return data[static_cast<std::size_t>(row) * stride + column];
  }

  /// Elements, padding included.
  std::size_t elements() const { return static_cast<std::size_t>(height) * stride; }
};

/// All of an array as a matrix without gaps. Its sides fit 32 bits.
inline Matrix dense_matrix(float* data, std::size_t height, std::size_t width) {
  const auto columns = static_cast<unsigned>(width);
  return {data, static_cast<unsigned>(height), columns, columns};
}

/// The reference: C = A * B on the host, in double. All are dense and row-major.
inline std::vector<double> multiply_on_host(const std::vector<float>& a,
                                            const std::vector<float>& b, std::size_t m,
                                            std::size_t n, std::size_t k) {
  std::vector<double> c(m * n, 0.0);
  const std::size_t workers = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (std::size_t first = 0; first < workers; ++first)
    threads.emplace_back([&, first] {
      for (std::size_t row = first; row < m; row += workers) {
        double* const sums = &c[row * n];
        for (std::size_t i = 0; i < k; ++i)
          for (std::size_t j = 0; j < n; ++j) sums[j] += 1.0 * a[row * k + i] * b[i * n + j];
      }
    });
  for (std::thread& t : threads) t.join();
  return c;
}

/// How far each element of a float product A * B may be from the exact one, in whatever order its k
/// terms are added: certainly k u / (1 - k u) * sum |a_i b_i|, u = 2^-24 (Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2nd ed., section 3.1). With roundings that err like coins
/// the factor is 3 sqrt(k) u but for a probability of about 2 exp(-3^2 / 2) (Higham and Mary, "A
/// New Approach to Probabilistic Rounding Error Analysis", 2019). The smaller factor is taken, and
/// for the sum the norms of a row of A and a column of B (Cauchy and Schwarz).
inline std::vector<double> product_bounds(const std::vector<float>& a, const std::vector<float>& b,
                                          std::size_t m, std::size_t n, std::size_t k) {
  constexpr double kUnit = FLT_EPSILON / 2;
  const double ku = static_cast<double>(k) * kUnit;
  const double factor = std::min(ku / (1 - ku), 3 * std::sqrt(static_cast<double>(k)) * kUnit);
  std::vector<double> row(m), column(n), bounds(m * n);
  for (std::size_t i = 0; i < m * k; ++i) row[i / k] += 1.0 * a[i] * a[i];
  for (std::size_t i = 0; i < k * n; ++i) column[i % n] += 1.0 * b[i] * b[i];
  for (std::size_t i = 0; i < m * n; ++i)
    bounds[i] = factor * std::sqrt(row[i / n] * column[i % n]);
  return bounds;
}

/// C = A * B in device memory, with the reference that C is compared with.
struct MatrixProduct {
  DeviceArray<float> a_values, b_values, c_values;
  Matrix a, b, c;  ///< what a kernel takes: m x k, k x n, m x n
  std::vector<double> expected, tolerance;

  /// `host_a` and `host_b` are dense and row-major.
  MatrixProduct(std::size_t m, std::size_t n, std::size_t k, const std::vector<float>& host_a,
                const std::vector<float>& host_b)
      : a_values(host_a),
        b_values(host_b),
        c_values(m * n),
        a(dense_matrix(a_values, m, k)),
        b(dense_matrix(b_values, k, n)),
        c(dense_matrix(c_values, m, n)),
        expected(multiply_on_host(host_a, host_b, m, n, k)),
        tolerance(product_bounds(host_a, host_b, m, n, k)) {}

  /// A and B get seeded random elements from -1 to 1.
  MatrixProduct(std::size_t m, std::size_t n, std::size_t k, std::uint64_t seed)
      : MatrixProduct(m, n, k, random_floats(m * k, -1, 1, seed),
                      random_floats(k * n, -1, 1, seed + 1)) {}

  /// Multiplications and additions of one product.
  double amount() const { return 2.0 * a.height * a.width * b.width; }

  /// Overwrites all of C with NaN, and what lies between its rows.
  void poison() const { CUDA_CHECK(cudaMemset(c.data, 0xff, c.elements() * sizeof(float))); }

  /// Waits for the kernels, and copies the rows of C.
  std::vector<float> download() const {
    std::vector<float> values(expected.size());
    const std::size_t row_bytes = c.width * sizeof(float);
    CUDA_CHECK(cudaMemcpy2D(values.data(), row_bytes, c.data, c.stride * sizeof(float), row_bytes,
                            c.height, cudaMemcpyDeviceToHost));
    return values;
  }

  /// Waits for the kernels, and compares every element of C with the reference.
  bool is_right(const std::string& version) const {
    return all_close(version, download(), expected, [&](std::size_t i) { return tolerance[i]; });
  }
};
