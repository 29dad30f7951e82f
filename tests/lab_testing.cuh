// SPDX-License-Identifier: MIT
// What the checks of the labs share: device arrays with poisoned elements, a ladder of awkward
// sizes, comparisons that stop at the first wrong element. A check includes this, then the
// learner's file:
//
//   #include "tests/lab_testing.cuh"
//   #include LAB_FILE
#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../common/common.cuh"
#include "catch.hpp"
#include "lab_report.h"

namespace lab {

/// What CUDA_CHECK does in a lab: a call that fails ends the test case, not the program.
inline void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  std::ostringstream text;
  text << file << ':' << line << ": " << call << " failed: " << cudaGetErrorName(status) << ": "
       << cudaGetErrorString(status);
  throw CudaFailure{text.str()};
}

}  // namespace lab

#undef CUDA_CHECK
#undef CUDA_CHECK_LAUNCH
#define CUDA_CHECK(call) lab::check_cuda((call), #call, __FILE__, __LINE__)
#define CUDA_CHECK_LAUNCH() lab::check_cuda(cudaGetLastError(), "kernel launch", __FILE__, __LINE__)

namespace lab {

/// True under checkers that slow a kernel down a hundredfold (TEST_SIZES=small in the environment).
inline bool small_sizes() {
  const char* const sizes = std::getenv("TEST_SIZES");
  return sizes != nullptr && std::string(sizes) == "small";
}

/// A device array that lives as long as its scope. Fresh elements hold the byte 0xff, NaN as
/// floats. On the CPU backend it ends at a guard page; on a GPU elements behind it are watched.
template <class T>
class Array {
 public:
  explicit Array(std::size_t n) : n_(n) {
    CUDA_CHECK(cudaMalloc(&data_, bytes()));
    CUDA_CHECK(cudaMemset(data_, 0xff, bytes()));
  }
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    if (n_ > 0)
      CUDA_CHECK(cudaMemcpy(data_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T* get() const { return data_; }
  std::size_t size() const { return n_; }

  /// Waits for the kernels and copies the elements to the host.
  std::vector<T> download() const {
    CUDA_CHECK(cudaDeviceSynchronize());
    std::vector<T> values(n_ + kMargin);
    if (!values.empty())
      CUDA_CHECK(
          cudaMemcpy(values.data(), data_, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
    for (std::size_t i = n_; i < values.size(); ++i) {
      if (is_poison(values[i])) continue;
      throw Wrong{"the element " + std::to_string(i - n_ + 1) + " past the end", "untouched",
                  "written", ""};
    }
    values.resize(n_);
    return values;
  }

  /// True for an element of which every byte is 0xff, as nobody has written it.
  static bool is_poison(const T& value) {
    unsigned char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    for (const unsigned char byte : raw) {
      if (byte != 0xff) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kMargin = kOnGpu ? 64 : 0;
  // On the CPU backend an array of no elements is still a place.
  std::size_t bytes() const { return (n_ + kMargin > 0 ? n_ + kMargin : 1) * sizeof(T); }

  T* data_ = nullptr;
  std::size_t n_;
};

/// The rung's n elements.
inline std::vector<int> ints_of(const Rung& rung) {
  if (rung.input == Input::kRandom) return random_ints(rung.n, -99, 99, 7 + rung.n);
  if (rung.input == Input::kNegative) return random_ints(rung.n, -1000, -1, 8 + rung.n);
  std::vector<int> values(rung.n);
  for (std::size_t i = 0; i < rung.n; ++i) values[i] = static_cast<int>(i);
  return values;
}

inline std::vector<float> floats_of(const Rung& rung) {
  if (rung.input == Input::kRandom) return random_floats(rung.n, -1, 1, 7 + rung.n);
  if (rung.input == Input::kNegative) return random_floats(rung.n, -1000, -1, 8 + rung.n);
  std::vector<float> values(rung.n);
  for (std::size_t i = 0; i < rung.n; ++i) values[i] = static_cast<float>(i);
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
[[noreturn]] void throw_wrong(const std::string& what, const T& actual, const U& expected) {
  const bool untouched = Array<T>::is_poison(actual);
  throw Wrong{
      what, text_of(expected), text_of(actual),
      untouched
          ? "every byte is still 0xff, as before the launch: nobody has written it, or something "
            "was added to it"
          : ""};
}

/// Every element as expected, else the first that is not ends the rung.
template <class T>
void expect_equal(const std::string& what, const std::vector<T>& actual,
                  const std::vector<T>& expected) {
  if (actual.size() != expected.size())
    throw Wrong{what + ".size()", text_of(expected.size()), text_of(actual.size()), ""};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(actual[i] == expected[i]))
      throw_wrong(what + "[" + std::to_string(i) + "]", actual[i], expected[i]);
  }
}

/// One value as expected.
template <class T>
void expect_equal(const std::string& what, const T& actual, const T& expected) {
  if (!(actual == expected)) throw_wrong(what, actual, expected);
}

/// Every element within tolerance(i) of what was expected; NaN never is. For matrices `columns`
/// turns the index into a row and a column.
template <class T, class U, class Tolerance>
void expect_close(const std::string& what, const std::vector<T>& actual,
                  const std::vector<U>& expected, Tolerance tolerance, std::size_t columns = 0) {
  if (actual.size() != expected.size())
    throw Wrong{what + ".size()", text_of(expected.size()), text_of(actual.size()), ""};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (is_close(static_cast<double>(actual[i]), static_cast<double>(expected[i]), tolerance(i)))
      continue;
    const std::string index =
        columns > 0 ? "[" + std::to_string(i / columns) + "][" + std::to_string(i % columns) + "]"
                    : "[" + std::to_string(i) + "]";
    throw_wrong(what + index, actual[i], expected[i]);
  }
}

/// A statement about the learner's result that is no comparison of values.
inline void expect(bool holds, const std::string& what, const std::string& expected,
                   const std::string& actual) {
  if (!holds) throw Wrong{what, expected, actual, ""};
}

/// Sizes at which off-by-one errors show: one, around a warp, around a block, no multiple of
/// anything, and empty (last: it is the least telling one).
inline std::vector<std::size_t> awkward_sizes() {
  return {1, 31, 32, 33, 64, 127, 128, 255, 256, 257, 1000, 1023, 1024, 2053, 0};
}

/// Block sizes: whole warps, powers of two.
inline std::vector<unsigned> warp_blocks() { return {32, 64, 256, 1024}; }
/// Block sizes that a kernel for any block has to stand.
inline std::vector<unsigned> any_blocks() { return {1, 31, 32, 33, 96, 250, 256, 1024}; }

/// The rungs of a check, in the order of their sizes. climb() goes on after the first wrong one, so
/// that the report can say which rungs fail; a CUDA error ends the climb.
///
///   lab::Ladder().sizes(lab::awkward_sizes()).blocks({32, 256}).climb([](const lab::Rung& at) {
///     ... lab::expect_equal("sums", d_sums.download(), expected); });
class Ladder {
 public:
  /// n elements each. Sizes above 4096 are tried with the last block and random values only. Under
  /// sanitizers, where a block of 1024 threads takes its time, sizes and blocks are small.
  Ladder& sizes(std::vector<std::size_t> sizes) { return sizes_ = std::move(sizes), *this; }
  Ladder& blocks(std::vector<unsigned> blocks) { return blocks_ = std::move(blocks), *this; }
  Ladder& inputs(std::vector<Input> inputs) { return inputs_ = std::move(inputs), *this; }
  /// {rows, columns, depth} of matrices, in place of sizes.
  struct Shape {
    std::size_t rows, columns, depth;
  };
  Ladder& shapes(std::vector<Shape> shapes) { return shapes_ = std::move(shapes), *this; }
  /// What it means when just the rungs fail for which `fails` holds; asked before what is known
  /// anyway.
  Ladder& diagnose(std::string meaning, std::function<bool(const Rung&)> fails) {
    patterns_.push_back({std::move(meaning), std::move(fails)});
    return *this;
  }

  void climb(const std::function<void(const Rung&)>& run) const {
    Record record(patterns_);
    for (const Rung& rung : rungs()) {
      try {
        run(rung);
        CUDA_CHECK(cudaDeviceSynchronize());
        record.right(rung);
      } catch (const Wrong& wrong) {
        record.wrong(rung, wrong);
      } catch (const CudaFailure& failure) {
        record.broke(rung, failure);
        break;
      }
    }
    record.conclude();
  }

 private:
  std::vector<Rung> rungs() const {
    std::vector<Rung> all;
    for (const Shape& shape : shapes_) {
      for (const unsigned block : blocks_) {
        if (small_sizes() && shape.rows * shape.columns > 2048 && &shape != &shapes_.front())
          continue;
        Rung rung;
        rung.rows = shape.rows;
        rung.columns = shape.columns;
        rung.depth = shape.depth;
        rung.block = block;
        all.push_back(rung);
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
          Rung rung;
          rung.n = n;
          rung.block = block;
          rung.input = input;
          all.push_back(rung);
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

/// A single try, for what has no sizes.
inline void once(const std::function<void()>& run) {
  Ladder().inputs({Input::kRandom}).climb([&](const Rung&) { run(); });
}

}  // namespace lab
