// SPDX-License-Identifier: MIT
// What the checks of the labs share: device arrays with poisoned elements, trials at
// awkward sizes, comparisons that stop at the first wrong element. A check includes this, then the
// learner's file:
//
//   #include "common/labs/testing.cuh"
//   #include LAB_FILE
#pragma once

#include <algorithm>
#include <climits>
#include <cstring>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../../tests/awkward.h"
#include "../../tests/catch.hpp"
#include "../common.cuh"
#include "report.h"

namespace lab {

/// In a lab a call that fails ends the test case, not the program.
inline const bool failures_throw = [] {
  on_cuda_failure = [](const std::string& failure) { throw CudaFailure{failure}; };
  return true;
}();

/// True if every byte of the element is 0xff: nobody has written it.
template <class T>
bool is_poison(const T& value) {
  unsigned char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  for (const unsigned char byte : raw) {
    if (byte != 0xff) return false;
  }
  return true;
}

/// A DeviceArray whose end is watched: on the CPU backend by a guard page, on a GPU by elements
/// behind it that nobody may write.
template <class T>
class Array {
 public:
  explicit Array(std::size_t n) : n_(n), elements_(n + kMargin) {}
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    CUDA_CHECK(cudaMemcpy(get(), values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
  }

  T* get() const { return elements_.get(); }
  std::size_t size() const { return n_; }

  /// Waits for the kernels and copies the elements to the host.
  std::vector<T> download() const {
    CUDA_CHECK(cudaDeviceSynchronize());
    std::vector<T> values = elements_.download();
    for (std::size_t i = n_; i < values.size(); ++i) {
      if (is_poison(values[i])) continue;
      throw Wrong{"the element " + std::to_string(i - n_ + 1) + " past the end", "untouched",
                  "written", ""};
    }
    values.resize(n_);
    return values;
  }

 private:
  static constexpr std::size_t kMargin = kOnGpu ? 64 : 0;

  std::size_t n_;
  DeviceArray<T> elements_;
};

/// The trial's n elements.
inline std::vector<int> ints_of(const Trial& trial) {
  if (trial.input == Input::kRandom) return random_ints(trial.n, -99, 99, 7 + trial.n);
  if (trial.input == Input::kNegative) return random_ints(trial.n, -1000, -1, 8 + trial.n);
  std::vector<int> values(trial.n);
  for (std::size_t i = 0; i < trial.n; ++i) values[i] = static_cast<int>(i);
  return values;
}

/// The same with large random ones: an int does not hold the sum of two.
inline std::vector<int> wide_ints_of(const Trial& trial) {
  if (trial.input != Input::kRandom) return ints_of(trial);
  return random_ints(trial.n, INT_MIN, INT_MAX, 7 + trial.n);
}

/// Multiples of 1/4 from -9/4 to 9/4: float sums of their products are exact.
inline std::vector<float> quarters(std::size_t count, std::uint64_t seed) {
  const std::vector<int> values = random_ints(count, -9, 9, seed);
  std::vector<float> quarters(count);
  for (std::size_t i = 0; i < count; ++i) quarters[i] = static_cast<float>(values[i]) / 4;
  return quarters;
}

inline std::vector<float> floats_of(const Trial& trial) {
  if (trial.input == Input::kRandom) return random_floats(trial.n, -1, 1, 7 + trial.n);
  if (trial.input == Input::kNegative) return random_floats(trial.n, -1000, -1, 8 + trial.n);
  std::vector<float> values(trial.n);
  for (std::size_t i = 0; i < trial.n; ++i) values[i] = static_cast<float>(i);
  return values;
}

template <class T>
std::string text_of(const T& value) {
  std::ostringstream text;
  text.precision(9);
  text << +value;
  return text.str();
}

template <class T, class U>
[[noreturn]] void throw_wrong(const std::string& name, const T& actual, const U& expected) {
  const bool untouched = is_poison(actual);
  throw Wrong{
      name, text_of(expected), text_of(actual),
      untouched
          ? "every byte is still 0xff, as before the launch: nobody has written it, or something "
            "was added to it"
          : ""};
}

/// Every element as expected, else the first that is not ends the trial.
template <class T>
void expect_equal(const std::string& name, const std::vector<T>& actual,
                  const std::vector<T>& expected) {
  if (actual.size() != expected.size())
    throw Wrong{name + ".size()", text_of(expected.size()), text_of(actual.size()), ""};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(actual[i] == expected[i]))
      throw_wrong(name + "[" + std::to_string(i) + "]", actual[i], expected[i]);
  }
}

/// One value as expected.
template <class T>
void expect_equal(const std::string& name, const T& actual, const T& expected) {
  if (!(actual == expected)) throw_wrong(name, actual, expected);
}

/// Every element within tolerance(i) of what was expected; NaN never is. For matrices `columns`
/// turns the index into a row and a column.
template <class T, class U, class Tolerance>
void expect_close(const std::string& name, const std::vector<T>& actual,
                  const std::vector<U>& expected, Tolerance tolerance, std::size_t columns = 0) {
  if (actual.size() != expected.size())
    throw Wrong{name + ".size()", text_of(expected.size()), text_of(actual.size()), ""};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (is_close(static_cast<double>(actual[i]), static_cast<double>(expected[i]), tolerance(i)))
      continue;
    const std::string index =
        columns > 0 ? "[" + std::to_string(i / columns) + "][" + std::to_string(i % columns) + "]"
                    : "[" + std::to_string(i) + "]";
    throw_wrong(name + index, actual[i], expected[i]);
  }
}

/// A statement about the learner's result that is no comparison of values.
inline void expect(bool holds, const std::string& name, const std::string& expected,
                   const std::string& actual) {
  if (!holds) throw Wrong{name, expected, actual, ""};
}

/// awkward_sizes() with the empty one last, since it tells the least.
inline std::vector<std::size_t> sizes() {
  std::vector<std::size_t> sizes = awkward_sizes();
  std::rotate(sizes.begin(), sizes.begin() + 1, sizes.end());
  return sizes;
}

/// Warps that have a thread with an element, when n elements have a thread each.
inline std::size_t warps_at_work(std::size_t n, std::size_t block) {
  return n / block * div_up(block, 32) + div_up(n % block, 32);
}

/// What a check tries, in the order of the sizes. run() goes on after the first wrong trial, so
/// that the report can say which trials fail; a CUDA error ends it.
///
///   lab::Trials().sizes(lab::sizes()).blocks({32, 256}).run([](const lab::Trial& at) {
///     ... lab::expect_equal("sums", d_sums.download(), expected); });
class Trials {
 public:
  /// n elements each. Sizes above 4096 are tried with the last block and random values only. Under
  /// sanitizers, where a block of 1024 threads takes its time, sizes and blocks are small.
  Trials& sizes(std::vector<std::size_t> sizes) { return sizes_ = std::move(sizes), *this; }
  Trials& blocks(std::vector<unsigned> blocks) { return blocks_ = std::move(blocks), *this; }
  Trials& inputs(std::vector<Input> inputs) { return inputs_ = std::move(inputs), *this; }
  /// {rows, columns, depth} of matrices, in place of sizes.
  struct Shape {
    std::size_t rows, columns, depth;
  };
  Trials& shapes(std::vector<Shape> shapes) { return shapes_ = std::move(shapes), *this; }
  /// The meaning to tell when exactly the trials fail for which `fails` holds. It comes before the
  /// meanings that report.cpp knows.
  Trials& diagnose(std::string meaning, std::function<bool(const Trial&)> fails) {
    patterns_.push_back({std::move(meaning), std::move(fails)});
    return *this;
  }

  void run(const std::function<void(const Trial&)>& attempt) const {
    TrialReport report(patterns_);
    for (const Trial& trial : trials()) {
      try {
        attempt(trial);
        CUDA_CHECK(cudaDeviceSynchronize());
        report.right(trial);
      } catch (const Wrong& wrong) {
        report.wrong(trial, wrong);
      } catch (const CudaFailure& failure) {
        report.broke(trial, failure);
        break;
      }
    }
    report.conclude();
  }

 private:
  std::vector<Trial> trials() const {
    std::vector<Trial> all;
    for (const Shape& shape : shapes_) {
      for (const unsigned block : blocks_) {
        if (small_sizes() && shape.rows * shape.columns > 2048 && &shape != &shapes_.front())
          continue;
        Trial trial;
        trial.rows = shape.rows;
        trial.columns = shape.columns;
        trial.depth = shape.depth;
        trial.block = block;
        all.push_back(trial);
      }
    }
    if (!shapes_.empty()) return all;
    for (const std::size_t n : sizes_) {
      const bool large = n > 4096;
      if (small_sizes() && n > 520 && n != sizes_.front()) continue;
      for (const unsigned block : blocks_) {
        if (small_sizes() && block > 256 && block != blocks_.front()) continue;
        if (large && block != blocks_.back()) continue;
        for (const Input input : inputs_) {
          if ((large || small_sizes()) && input != inputs_.front()) continue;
          Trial trial;
          trial.n = n;
          trial.block = block;
          trial.input = input;
          all.push_back(trial);
        }
      }
    }
    return all;
  }

  std::vector<std::size_t> sizes_ = {0};
  std::vector<unsigned> blocks_ = {0};
  std::vector<Input> inputs_ = {Input::kRandom, Input::kNegative, Input::kIndices};
  std::vector<Shape> shapes_;
  std::vector<Pattern> patterns_;
};

/// A single trial, for what has no sizes.
inline void once(const std::function<void()>& attempt) {
  Trials().inputs({Input::kRandom}).run([&](const Trial&) { attempt(); });
}

}  // namespace lab
