// SPDX-License-Identifier: MIT
// The chapters on matrix products share all but their kernels: C = A * B in device memory, its
// check, its options and its rows of the table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check.cuh"
#include "device_array.cuh"
#include "matrix.cuh"
#include "matrix_reference.cuh"
#include "measured_row.cuh"
#include "options.cuh"
#include "random.cuh"
#include "result_table.cuh"
#include "verify.cuh"

/// The sides of C = A * B: A is m x k, B is k x n, C is m x n.
struct ProductShape {
  std::size_t m, n, k;

  static ProductShape square(std::size_t side) { return {side, side, side}; }

  /// Declares --m, --n and --k; the sides as they are now are the defaults.
  void add_options(Options& opt) {
    constexpr std::size_t kMaxSide = 256_Ki;  // grids stay within their limits
    opt.add("m", &m, 1, kMaxSide, "rows of A and C");
    opt.add("n", &n, 1, kMaxSide, "columns of B and C");
    opt.add("k", &k, 1, kMaxSide, "columns of A, rows of B");
  }

  /// The size of the three matrices, without gaps.
  std::size_t bytes() const { return (m * k + k * n + m * n) * sizeof(float); }

  /// Multiplications and additions of one product.
  double flop() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }

  std::string text() const {
    return "m x n x k = " + std::to_string(m) + " x " + std::to_string(n) + " x " +
           std::to_string(k);
  }
};

/// C = A * B in device memory, with the reference that C is compared with.
class MatrixProduct {
  // Above the views of them: members are made in the order in which they are declared.
  DeviceArray<float> a_, b_, c_;

 public:
  /// `a` and `b` are dense and row-major. Behind each row on the device are `gap` elements of NaN,
  /// which kernels must leave alone.
  MatrixProduct(ProductShape sides, const std::vector<float>& a, const std::vector<float>& b,
                std::size_t gap = 0)
      : a_(with_gaps(a, sides.k, gap)),
        b_(with_gaps(b, sides.n, gap)),
        c_(sides.m * (sides.n + gap)),
        shape(sides),
        a(view(a_, sides.m, sides.k, gap)),
        b(view(b_, sides.k, sides.n, gap)),
        c(view(c_, sides.m, sides.n, gap)),
        expected_(multiply_on_host(a, b, sides.m, sides.n, sides.k)),
        tolerance_(a, b, sides.m, sides.n, sides.k) {}

  /// A and B get seeded random elements from -1 to 1.
  MatrixProduct(ProductShape sides, std::uint64_t seed, std::size_t gap = 0)
      : MatrixProduct(sides, random_floats(sides.m * sides.k, -1, 1, seed),
                      random_floats(sides.k * sides.n, -1, 1, seed + 1), gap) {}

  const ProductShape shape;
  const Matrix a, b, c;  ///< what a kernel takes

  /// Overwrites all of C with NaN.
  void poison() const { c_.poison(); }

  /// Waits for the kernels, and copies C without its gaps.
  std::vector<float> download() const {
    std::vector<float> values(shape.m * shape.n);
    const std::size_t row_bytes = shape.n * sizeof(float);
    CUDA_CHECK(cudaMemcpy2D(values.data(), row_bytes, c.data, c.stride * sizeof(float), row_bytes,
                            shape.m, cudaMemcpyDeviceToHost));
    return values;
  }

  /// Waits for the kernels, and compares every element of C with the reference. Names the first
  /// wrong one on stderr, with `version` before it.
  /// With a table the largest error over its tolerance becomes the next row's cell of a column
  /// kErrorColumn, if it has one.
  bool is_right(const std::string& version, ResultTable* table = nullptr) const {
    const std::vector<float> values = download();
    if (table != nullptr) {
      double worst = 0;
      for (std::size_t i = 0; i < values.size(); ++i)
        worst = std::max(worst, std::abs(values[i] - expected_[i]) / tolerance_(i));
      table->next_row_has({digits_text(worst)});
    }
    return all_close(version, values.data(), expected_.data(), values.size(), tolerance_);
  }

 private:
  static Matrix view(const DeviceArray<float>& elements, std::size_t height, std::size_t width,
                     std::size_t gap) {
    return {elements.get(), static_cast<unsigned>(height), static_cast<unsigned>(width),
            static_cast<unsigned>(width + gap)};
  }

  std::vector<double> expected_;
  DotProductBound tolerance_;
};

/// Heads the column for the largest error of C's elements over its bound.
constexpr const char* kErrorColumn = "of_bound";

/// Adds a row for each version that the command line asks for. `product` is a MatrixProduct, or
/// of a class that a chapter derives from it.
template <class Product, std::size_t kCount>
void add_product_rows(ResultTable& table, const Version<Product> (&versions)[kCount],
                      const Product& product) {
  add_version_rows(
      table, versions, product, product.shape.flop(), [&] { product.poison(); },
      [&](const char* version) { return product.is_right(version, &table); });
}
