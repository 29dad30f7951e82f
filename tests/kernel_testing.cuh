// SPDX-License-Identifier: MIT
// What every kernel test needs: awkward sizes, inputs that expose index errors, device arrays.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "../common/common.cuh"
#include "catch.hpp"

/// True under checkers that slow a kernel down a hundredfold (TEST_SIZES=small in the environment).
inline bool small_sizes() {
  const char* const sizes = std::getenv("TEST_SIZES");
  return sizes != nullptr && std::string(sizes) == "small";
}

/// How often to repeat what must work every time.
inline int repeats(int usual) { return small_sizes() ? 2 : usual; }

/// Sizes at which off-by-one errors show: empty, one, around a warp, around a block of 256, no
/// multiple of anything, a prime near 1e5, one more than 2^20. Small: several blocks for the last
/// two.
inline std::vector<std::size_t> awkward_sizes() {
  if (small_sizes()) return {0, 1, 31, 32, 33, 255, 256, 257, 1023, 2053};
  return {0, 1, 31, 32, 33, 255, 256, 257, 1023, 99991, (1u << 20) + 1};
}

/// Block sizes that kernels meet: one thread, no whole warp, whole warps, no power of two, the
/// largest.
inline std::vector<unsigned> awkward_blocks() { return {1, 31, 32, 96, 250, 256, 1024}; }

/// An input with its name, for the failure message.
struct NamedInts {
  std::string name;
  std::vector<int> values;
};

/// The inputs every integer kernel is tested on: random, negative, and index-valued (which no
/// swapped or repeated element survives).
inline std::vector<NamedInts> ints_of_every_kind(std::size_t n) {
  std::vector<int> indices(n);
  for (std::size_t i = 0; i < n; ++i) indices[i] = static_cast<int>(i);
  return {{"random 0..9", random_ints(n, 0, 9, 7)},
          {"negative", random_ints(n, -1000, -1, 8)},
          {"index-valued", indices}};
}

/// True for the two codes with which a launch that no device can run is refused: the documented
/// one, and the one that CUDA 13.0 was seen to return on an H200.
inline bool refuses_configuration(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
}

/// A device array that lives as long as its scope. Fresh elements hold the byte 0xff: NaN as
/// floats.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t n) : n_(n) {
    CUDA_CHECK(cudaMalloc(&data_, bytes()));
    poison();
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    if (n_ > 0)
      CUDA_CHECK(cudaMemcpy(data_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() const { return data_; }
  std::size_t size() const { return n_; }
  void poison() { CUDA_CHECK(cudaMemset(data_, 0xff, bytes())); }

  std::vector<T> download() const {
    std::vector<T> values(n_);
    if (n_ > 0)
      CUDA_CHECK(cudaMemcpy(values.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::size_t bytes() const {
    return (n_ > 0 ? n_ : 1) * sizeof(T);
  }  // an empty array is still a place
  T* data_ = nullptr;
  std::size_t n_;
};
