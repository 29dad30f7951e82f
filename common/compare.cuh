// SPDX-License-Identifier: MIT
// Seeded test data, and comparing with the reference: every element, so that NaN cannot pass.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <thread>

#include "memory.cuh"

/// Scrambles a counter into 64 random-looking bits (SplitMix64: Steele, Lea, Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014).
__host__ __device__ inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The int with number `i`, uniform in low..high. Kernels can ask, too.
__host__ __device__ inline int random_int(int low, int high, std::uint64_t seed, std::uint64_t i) {
  const auto span = static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - low + 1);
  const std::uint64_t upper = random_bits(seed, i) >> 32;  // span <= 2^32: the product fits
  return static_cast<int>(low + static_cast<std::int64_t>((upper * span) >> 32));
}

/// `n` ints, uniform in low..high: random_int() with the numbers 0, 1, 2, ...
inline std::vector<int> random_ints(std::size_t n, int low, int high, std::uint64_t seed) {
  std::vector<int> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = random_int(low, high, seed, i);
  return values;
}

/// `n` floats, uniform in low..high.
inline std::vector<float> random_floats(std::size_t n, float low, float high, std::uint64_t seed) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double unit = static_cast<double>(random_bits(seed, i) >> 11) * 0x1p-53;
    values[i] = static_cast<float>(low + (static_cast<double>(high) - low) * unit);
  }
  return values;
}

/// True when |actual - expected| <= tolerance; false when a NaN is on either side.
inline bool is_close(double actual, double expected, double tolerance) {
  return std::abs(actual - expected) <= tolerance;
}

/// Says on stderr what was wrong, and returns false.
template <class T, class U>
bool report_wrong(const std::string& name, const std::string& where, const T& actual,
                  const U& expected) {
  std::cerr << name << ": wrong" << where << ": expected " << expected << ", got " << actual
            << "\n";
  return false;
}

/// Whether all elements are there, and `is_right(i)` for each. Names the first wrong one on stderr.
template <class T, class U, class IsRight>
bool all_right(const std::string& name, const std::vector<T>& actual,
               const std::vector<U>& expected, IsRight is_right) {
  if (actual.size() != expected.size())
    return report_wrong(name, ", how many", actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (!is_right(i))
      return report_wrong(name, " at [" + std::to_string(i) + "]", actual[i], expected[i]);
  return true;
}

/// Compares all elements, each within its own `tolerance(i)`.
template <class T, class U, class Tolerance>
bool all_close(const std::string& name, const std::vector<T>& actual,
               const std::vector<U>& expected, Tolerance tolerance) {
  return all_right(name, actual, expected,
                   [&](std::size_t i) { return is_close(actual[i], expected[i], tolerance(i)); });
}

template <class T>
bool all_equal(const std::string& name, const std::vector<T>& actual,
               const std::vector<T>& expected) {
  return all_right(name, actual, expected, [&](std::size_t i) { return actual[i] == expected[i]; });
}

template <class T>
bool equals(const std::string& name, const T& actual, const T& expected) {
  return actual == expected || report_wrong(name, "", actual, expected);
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
