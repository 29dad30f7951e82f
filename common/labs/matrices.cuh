// SPDX-License-Identifier: MIT
// Matrices for the checks of the labs on matrix products: on the device, with a gap behind every
// row, so that a kernel that takes the width for the stride reads NaN or infinity, or writes where
// nothing is.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "counts.cuh"
#include "testing.cuh"

namespace lab {

/// Dense host values, row by row, with a gap behind each row of `width`, in turn NaN and infinity:
/// a kernel that takes the width for the stride reads them, and one that looks for NaN finds half.
inline std::vector<float> with_gaps(const std::vector<float>& dense, std::size_t width,
                                    std::size_t gap) {
  const std::size_t height = width == 0 ? 0 : dense.size() / width;
  std::vector<float> wide(height * (width + gap), NAN);
  for (std::size_t row = 0; row < height; ++row) {
    float* const first = &wide[row * (width + gap)];
    std::copy_n(&dense[row * width], width, first);
    for (std::size_t k = width + 1; k < width + gap; k += 2) first[k] = INFINITY;
  }
  return wide;
}

/// In a product in which each element of C has a thread of its own, as far as it can be seen in
/// some of the blocks: what one thread loads and stores, at most.
template <class Seen>
void expect_own_traffic(const Seen& seen, std::size_t loads, const std::string& note) {
  at_most("elements that one thread loads", seen.bytes_loaded_by_busiest_thread() / sizeof(float),
          loads, note);
  at_most("elements that one thread stores", seen.bytes_stored_by_busiest_thread() / sizeof(float),
          1, "each element of C has a thread of its own");
}

/// And without tiles: each thread reads a row of A and a column of B.
template <class Seen>
void expect_own_element(const Seen& seen, std::size_t depth) {
  expect_own_traffic(seen, 2 * depth, "a row of A and a column of B");
  expect_nothing_handed_over(seen);
}

/// In a product by square tiles in which a thread brings an element of each tile and computes one
/// of C, as far as it can be seen in some of the blocks.
template <class Seen>
void expect_own_part_of_tiles(const Seen& seen, unsigned tile, std::size_t steps) {
  expect_own_traffic(seen, 2 * steps, "in each step one of A and one of B");
  at_most("reads of shared memory and shuffles of one thread", seen.steps_of_busiest_thread(),
          2 * steps * tile,
          "in each step a row and a column of the tiles: no thread adds for another");
  exactly("atomics", seen.atomics().requests + seen.shared_atomics().requests, 0,
          "threads wait for each other at the barriers alone");
}

/// Random A and B of a trial's shape, and what C has to be.
struct RandomProduct {
  explicit RandomProduct(const Trial& at)
      : a(random_floats(at.rows * at.depth, -1, 1, 5)),
        b(random_floats(at.depth * at.columns, -1, 1, 6)),
        columns(at.columns),
        expected(multiply_on_host(a, b, at.rows, at.columns, at.depth)),
        bounds(product_bounds(a, b, at.rows, at.columns, at.depth)) {}

  void compare(const std::string& name, const std::vector<float>& c) const {
    expect_close(
        name, c, expected, [this](std::size_t i) { return bounds[i]; }, columns);
  }

  std::vector<float> a, b;
  std::size_t columns;
  std::vector<double> expected, bounds;
};

/// A row-major matrix on the device. All of it is NaN until it is written; its gaps are NaN and
/// infinity in turn.
class DeviceMatrix {
 public:
  DeviceMatrix(std::size_t rows, std::size_t columns, std::size_t gap)
      : DeviceMatrix(std::vector<float>(rows * columns, NAN), rows, columns, gap) {}
  /// `values`: rows * columns of them, dense.
  DeviceMatrix(const std::vector<float>& values, std::size_t rows, std::size_t columns,
               std::size_t gap)
      : rows_(rows), columns_(columns), gap_(gap), elements_(with_gaps(values, columns, gap)) {}

  Matrix view() const {
    return {elements_.get(), static_cast<unsigned>(rows_), static_cast<unsigned>(columns_),
            static_cast<unsigned>(columns_ + gap_)};
  }

  /// How many sectors the pieces of all rows touch that tiles of this width bring. What cudaMalloc
  /// returns begins with a sector.
  std::uint64_t sectors_of_pieces(std::size_t tile) const {
    constexpr std::size_t kElements = 32 / sizeof(float);  // of a sector
    std::uint64_t sectors = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      const std::size_t begin = row * (columns_ + gap_), end = begin + columns_;
      for (std::size_t first = begin; first < end; first += tile) {
        sectors += (std::min(first + tile, end) - 1) / kElements - first / kElements + 1;
      }
    }
    return sectors;
  }

  /// The elements with the gaps, as they lie in memory.
  const Array<float>& elements() const { return elements_; }

  /// Waits for the kernels, and returns the elements without the gaps, in which nobody may have
  /// written. `name` is for the report.
  std::vector<float> download(const std::string& name) const {
    const std::vector<float> wide = elements_.download();
    std::vector<float> values;
    for (std::size_t row = 0; row < rows_; ++row) {
      const float* const first = &wide[row * (columns_ + gap_)];
      values.insert(values.end(), first, first + columns_);
      for (std::size_t k = columns_; k < columns_ + gap_; ++k) {
        const bool untouched =
            (k - columns_) % 2 == 0 ? std::isnan(first[k]) : std::isinf(first[k]);
        expect(untouched,
               name + ": the gap behind row " + std::to_string(row) + " (stride > width)",
               "untouched", "written");
      }
    }
    return values;
  }

 private:
  std::size_t rows_, columns_, gap_;
  Array<float> elements_;
};

}  // namespace lab
