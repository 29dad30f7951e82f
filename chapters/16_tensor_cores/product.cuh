// SPDX-License-Identifier: MIT
// Chapter 16: a product of BF16 matrices, with the reference and the bound that it is compared
// with.
#pragma once

#include <cuda_bf16.h>

#include <map>
#include <optional>

#include "../../common/common.cuh"
#include "instructions.cuh"

using Bf16 = __nv_bfloat16;

/// A view of a row-major matrix of BF16, as Matrix is one of floats.
struct Bf16Matrix {
  Bf16* data;
  unsigned height, width;  ///< rows, columns
  unsigned stride;         ///< elements from one row to the next; at least width

  __host__ __device__ Bf16& at(unsigned row, unsigned column) const {
    return data[static_cast<std::size_t>(row) * stride + column];
  }
};

/// Whether every row begins at a multiple of 16 bytes: bulk copies, and copies of 16 bytes, want
/// it.
__host__ __device__ inline bool is_wide(const Bf16Matrix& m) {
  return reinterpret_cast<std::uintptr_t>(m.data) % 16 == 0 && m.stride % 8 == 0;
}

/// The nearest BF16 numbers, and what they are as floats.
inline std::vector<Bf16> to_bf16(const std::vector<float>& values) {
  std::vector<Bf16> rounded;
  for (const float x : values) rounded.push_back(__float2bfloat16(x));
  return rounded;
}
inline std::vector<float> to_floats(const std::vector<Bf16>& values) {
  std::vector<float> floats;
  for (const Bf16 x : values) floats.push_back(__bfloat162float(x));
  return floats;
}

/// How far an element of C may be from the exact one. Rounding it to BF16, 8 bits, adds at most
/// 2^-8 of it. Before, a Hopper's tensor cores add 16 products and a sum at a time, those of an
/// Ampere 8: all are shifted to the largest exponent, what is shifted out is cut off, and so is
/// what the result has no room for (Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA
/// tensor cores", 2021, of chips up to Ampere; Khattak and Mikaitis, 2025, of Hopper). Each cut
/// is less than 2^-23 of the largest number that is there, so at most of six times what k products
/// of random signs sum up to, |row of A| |column of B| / sqrt(k). Those of the sum go one way,
/// towards zero: two for each 16 of k on a Hopper. Those of products go both ways: 3 sqrt(k) of k
/// (product_bounds()).
inline std::vector<double> bf16_bounds(const std::vector<float>& a, const std::vector<float>& b,
                                       const std::vector<double>& c, std::size_t m, std::size_t n,
                                       std::size_t k) {
  const double root = std::sqrt(static_cast<double>(k));
  const double cuts = static_cast<double>(k) / 8 + 3 * root + 8;  // 8: parts that are added
  std::vector<double> row(m), column(n), bounds(m * n);
  for (std::size_t i = 0; i < m * k; ++i) row[i / k] += 1.0 * a[i] * a[i];
  for (std::size_t i = 0; i < k * n; ++i) column[i % n] += 1.0 * b[i] * b[i];
  for (std::size_t i = 0; i < m * n; ++i)
    bounds[i] =
        std::abs(c[i]) * 0x1p-8 + cuts * 0x1p-23 * 6 * std::sqrt(row[i / n] * column[i % n]) / root;
  return bounds;
}

/// Dense values in device memory, with `gap` NaNs behind each row.
struct Bf16Array {
  DeviceArray<Bf16> values;
  Bf16Matrix view;

  Bf16Array(const std::vector<Bf16>& dense, std::size_t height, std::size_t width, unsigned gap)
      : values(height * (width + gap)),
        view{values, static_cast<unsigned>(height), static_cast<unsigned>(width),
             static_cast<unsigned>(width) + gap} {
    if (dense.empty()) return;
    CUDA_CHECK(cudaMemcpy2D(view.data, view.stride * sizeof(Bf16), dense.data(),
                            width * sizeof(Bf16), width * sizeof(Bf16), height,
                            cudaMemcpyHostToDevice));
  }
};

/// A and B come in boxes of 64 x 64, rows of 128 bytes; A also in boxes of another height
/// (map_of_a()).
constexpr unsigned kBox = 64;

/// A warp stores 16 x 64 of C at a time.
constexpr unsigned kRowsStored = 16;

/// What bulk copies have to know of A, B and C.
struct Maps {
  CUtensorMap a, b, c;
};
inline CUtensorMap map_of(const Bf16Matrix& m, unsigned rows) {
  return ptx::tile_map(m.data, m.height, m.width, m.stride, rows, kBox, ptx::Swizzle::k128Bytes);
}

/// C = A * B in device memory, all of BF16, with the reference that C is compared with.
struct TensorProduct {
  Bf16Array a_values, b_values, c_values;
  Bf16Matrix a, b, c;  ///< what a kernel takes: m x k, k x n, m x n
  std::vector<double> expected, tolerance;
  unsigned sms = 1;  ///< multiprocessors among which tiles are dealt out

  /// `host_a` and `host_b` are dense and row-major, of numbers that are BF16. In device memory
  /// `gap` elements lie between two rows.
  TensorProduct(std::size_t m, std::size_t n, std::size_t k, const std::vector<float>& host_a,
                const std::vector<float>& host_b, unsigned gap = 0)
      : a_values(to_bf16(host_a), m, k, gap),
        b_values(to_bf16(host_b), k, n, gap),
        c_values({}, m, n, gap),
        a(a_values.view),
        b(b_values.view),
        c(c_values.view),
        expected(multiply_on_host(host_a, host_b, m, n, k)),
        tolerance(bf16_bounds(host_a, host_b, expected, m, n, k)) {}

  /// A and B get seeded random elements from -1 to 1.
  TensorProduct(std::size_t m, std::size_t n, std::size_t k, std::uint64_t seed, unsigned gap = 0)
      : TensorProduct(m, n, k, to_floats(to_bf16(random_floats(m * k, -1, 1, seed))),
                      to_floats(to_bf16(random_floats(k * n, -1, 1, seed + 1))), gap) {}

  /// Multiplications and additions of one product.
  double amount() const { return 2.0 * a.height * a.width * b.width; }

  /// Made at the first launch that copies in bulk, and kept.
  const Maps& maps() const {
    if (!maps_) maps_ = Maps{map_of(a, kBox), map_of(b, kBox), map_of(c, kRowsStored)};
    return *maps_;
  }

  /// Of A in boxes of so many rows.
  const CUtensorMap& map_of_a(unsigned rows) const {
    if (rows == kBox) return maps().a;
    const auto found = maps_of_a_.find(rows);
    return found != maps_of_a_.end() ? found->second
                                     : maps_of_a_.emplace(rows, map_of(a, rows)).first->second;
  }

  /// Memory for the sums of so many parts, each as large as C.
  float* room_for(unsigned parts) const {
    const std::size_t all = std::size_t{parts} * c.height * c.width;
    if (!parts_ || parts_->size() < all) parts_.emplace(all);
    return *parts_;
  }

  /// Overwrites all of C with NaN, and what lies between its rows.
  void poison() const { c_values.values.poison(); }

  /// Waits for the kernels, and copies the rows of C.
  std::vector<float> download() const {
    std::vector<Bf16> values(expected.size());
    const std::size_t row_bytes = c.width * sizeof(Bf16);
    CUDA_CHECK(cudaMemcpy2D(values.data(), row_bytes, c.data, c.stride * sizeof(Bf16), row_bytes,
                            c.height, cudaMemcpyDeviceToHost));
    return to_floats(values);
  }

  /// Waits for the kernels, and compares every element of C with the reference.
  bool is_right(const std::string& version) const {
    return all_close(version, download(), expected, [&](std::size_t i) { return tolerance[i]; });
  }

 private:
  mutable std::optional<Maps> maps_;
  mutable std::map<unsigned, CUtensorMap> maps_of_a_;
  mutable std::optional<DeviceArray<float>> parts_;
};

/// Peak rate of BF16 products with sums in FP32, in GFLOP/s: SMs x multiply-adds per clock x 2 x
/// clock. By compute capability (NVIDIA's papers on the A100 and H100 architectures, without
/// sparsity). 0 for one that is not in this table: it is never guessed.
inline double peak_bf16_gflops(const Device& d) {
  const int capability = 10 * d.major + d.minor;
  const double each = capability == 80 ? 1024 : capability == 90 ? 2048 : 0;
  return 2 * each * d.multiProcessorCount * d.core_khz / 1e6;
}
