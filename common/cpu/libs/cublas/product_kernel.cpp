// SPDX-License-Identifier: MIT
// Panels of A and B are copied next to each other, so that the innermost loop reads them in order,
// whatever their strides and types, and keeps a small tile of C in registers.
#include "product_kernel.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "../../engine/arithmetic/short_floats.h"

namespace cuda_cpu {
namespace {

// A strip of either (kDepth deep) stays in the L1, a block in the L2.
constexpr std::size_t kDepth = 256, kBlockRows = 128, kBlockColumns = 512, kTileColumns = 4;

/// 16 bytes: what every x86-64 and aarch64 computes with at once.
template <class Sum>
struct Lanes {
  typedef Sum Vector __attribute__((vector_size(16)));
  static constexpr std::size_t kCount = 16 / sizeof(Sum);
  static constexpr std::size_t kTileRows = 2 * kCount;
  /// From column to column of a block's sums: a tile more than the rows, which it may stick out by.
  static constexpr std::size_t kHeight = kBlockRows + kTileRows;
};

template <class T>
struct AsItIs {
  using Stored = T;
  static T value(T x) { return x; }
};
struct AsTf32 {
  using Stored = float;
  static float value(float x) { return rounded_to_tf32(x); }
};
template <class Format>
struct AsShort {
  using Stored = std::uint16_t;
  static float value(std::uint16_t x) { return Format::value(x); }
};

/// Copies `rows` x `depth` elements into strips of kStrip rows, the last one filled up with zeros.
template <std::size_t kStrip, class Read, class Sum>
void pack_as(const Factor& from, std::size_t row, std::size_t rows, std::size_t first,
             std::size_t depth, Sum* to) {
  const auto* const data = static_cast<const typename Read::Stored*>(from.data);
  for (std::size_t strip = 0; strip < rows; strip += kStrip) {
    const std::size_t height = std::min(kStrip, rows - strip);
    for (std::size_t l = 0; l < depth; ++l, to += kStrip) {
      const auto* const source =
          data + (row + strip) * from.row_step + (first + l) * from.column_step;
      for (std::size_t i = 0; i < height; ++i) {
        to[i] = static_cast<Sum>(Read::value(source[i * from.row_step]));
      }
      for (std::size_t i = height; i < kStrip; ++i) to[i] = 0;
    }
  }
}

template <std::size_t kStrip, class Sum>
void pack(const Factor& from, Inputs inputs, std::size_t row, std::size_t rows, std::size_t first,
          std::size_t depth, Sum* to) {
  const auto copy = from.type == CUDA_R_64F    ? pack_as<kStrip, AsItIs<double>, Sum>
                    : from.type == CUDA_R_16F  ? pack_as<kStrip, AsShort<HalfFormat>, Sum>
                    : from.type == CUDA_R_16BF ? pack_as<kStrip, AsShort<Bfloat16Format>, Sum>
                    : inputs == Inputs::kTf32  ? pack_as<kStrip, AsTf32, Sum>
                                               : pack_as<kStrip, AsItIs<float>, Sum>;
  copy(from, row, rows, first, depth, to);
}

/// Adds a strip of A times a strip of B to a tile of the sums.
template <class Sum>
void multiply_tile(const Sum* a, const Sum* b, std::size_t depth, Sum* to) {
  using Vector = typename Lanes<Sum>::Vector;
  constexpr std::size_t kRows = Lanes<Sum>::kTileRows;
  Vector sums[kTileColumns][2];
  for (std::size_t j = 0; j < kTileColumns; ++j) {
    std::memcpy(sums[j], to + j * Lanes<Sum>::kHeight, sizeof(sums[j]));
  }
  for (std::size_t l = 0; l < depth; ++l, a += kRows, b += kTileColumns) {
    Vector column[2];
    std::memcpy(column, a, sizeof(column));
    for (std::size_t j = 0; j < kTileColumns; ++j) {
      sums[j][0] += column[0] * b[j];
      sums[j][1] += column[1] * b[j];
    }
  }
  for (std::size_t j = 0; j < kTileColumns; ++j) {
    std::memcpy(to + j * Lanes<Sum>::kHeight, sums[j], sizeof(sums[j]));
  }
}

template <class Format>
struct ShortElement {
  std::uint16_t bits;
  operator double() const { return static_cast<double>(Format::value(bits)); }
  ShortElement& operator=(double value) {
    bits = Format::round(value);
    return *this;
  }
};

/// With beta = 0 what C held is not read: it may be NaN.
template <class Element, class Sum>
void update(Element* c, Sum product, Sum beta) {
  if (beta == 0) {
    *c = product;
  } else {
    *c = static_cast<Sum>(*c) * beta + product;
  }
}

/// Computes blocks of op(A) * op(B), all terms of each before the next.
template <class Sum>
class Blocks {
 public:
  explicit Blocks(const ProductJob& job)
      : job_(job),
        // op(B) transposed, so that both are packed alike.
        b_{job.b.data, job.b.type, job.b.column_step, job.b.row_step},
        packed_a_((kBlockRows + kTileRows) * kDepth),
        packed_b_((kBlockColumns + kTileColumns) * kDepth),
        sums_(kHeight * (kBlockColumns + kTileColumns)) {}

  void compute(std::size_t row, std::size_t rows, std::size_t column, std::size_t columns) {
    std::fill(sums_.begin(), sums_.end(), Sum{0});
    for (std::size_t first = 0; first < job_.k; first += kDepth) {
      const std::size_t depth = std::min(kDepth, job_.k - first);
      pack<kTileColumns>(b_, job_.inputs, column, columns, first, depth, packed_b_.data());
      pack<kTileRows>(job_.a, job_.inputs, row, rows, first, depth, packed_a_.data());
      for (std::size_t j = 0; j < columns; j += kTileColumns) {
        for (std::size_t i = 0; i < rows; i += kTileRows) {
          multiply_tile(packed_a_.data() + i * depth, packed_b_.data() + j * depth, depth,
                        sums_.data() + i + j * kHeight);
        }
      }
    }
  }

  Sum sum(std::size_t i, std::size_t j) const { return sums_[i + j * kHeight]; }

 private:
  static constexpr std::size_t kTileRows = Lanes<Sum>::kTileRows, kHeight = Lanes<Sum>::kHeight;

  const ProductJob& job_;
  const Factor b_;
  std::vector<Sum> packed_a_, packed_b_, sums_;
};

template <class Element, class Sum>
void multiply_into(const ProductJob& job, Sum alpha, Sum beta) {
  auto* const c = static_cast<Element*>(job.c);
  if (job.k == 0 || alpha == 0) {
    for (std::size_t j = 0; j < job.n; ++j) {
      for (std::size_t i = 0; i < job.m; ++i) update(c + i + j * job.c_step, Sum{0}, beta);
    }
    return;
  }
  Blocks<Sum> blocks(job);
  for (std::size_t column = 0; column < job.n; column += kBlockColumns) {
    const std::size_t columns = std::min(kBlockColumns, job.n - column);
    for (std::size_t row = 0; row < job.m; row += kBlockRows) {
      const std::size_t rows = std::min(kBlockRows, job.m - row);
      blocks.compute(row, rows, column, columns);
      for (std::size_t j = 0; j < columns; ++j) {
        Element* const to = c + row + (column + j) * job.c_step;
        for (std::size_t i = 0; i < rows; ++i) update(to + i, alpha * blocks.sum(i, j), beta);
      }
    }
  }
}

}  // namespace

template <class Sum>
void multiply(const ProductJob& job, Sum alpha, Sum beta) {
  if (job.c_type == CUDA_R_16F) {
    multiply_into<ShortElement<HalfFormat>>(job, alpha, beta);
  } else if (job.c_type == CUDA_R_16BF) {
    multiply_into<ShortElement<Bfloat16Format>>(job, alpha, beta);
  } else {
    multiply_into<Sum>(job, alpha, beta);
  }
}

template void multiply<float>(const ProductJob& job, float alpha, float beta);
template void multiply<double>(const ProductJob& job, double alpha, double beta);

}  // namespace cuda_cpu
