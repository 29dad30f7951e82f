// SPDX-License-Identifier: MIT
// Device memory with an owner.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "check.cuh"

/// An array in device memory that lives as long as its owner. Passed to a kernel it becomes the
/// pointer. Fresh elements hold the byte 0xff, NaN as floats and -1 as signed integers, so that an
/// element that nobody has written shows. An empty array has an address, too.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t n) : n_(n) {
    CUDA_CHECK(cudaMalloc(&data_, allocated_bytes()));
    poison();
  }

  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    CUDA_CHECK(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
  }

  ~DeviceArray() { cudaFree(data_); }  // what a kernel did wrong was reported at its check
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), n_(std::exchange(other.n_, 0)) {}
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() const { return data_; }
  operator T*() const { return data_; }
  std::size_t size() const { return n_; }
  std::size_t bytes() const { return n_ * sizeof(T); }

  /// Overwrites every element with the byte 0xff.
  void poison() const { CUDA_CHECK(cudaMemset(data_, 0xff, allocated_bytes())); }

  /// Waits for the kernels of the default stream and copies the first `count` elements to the host.
  std::vector<T> download(std::size_t count) const {
    std::vector<T> values(count);
    CUDA_CHECK(cudaMemcpy(values.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  std::vector<T> download() const { return download(n_); }

 private:
  std::size_t allocated_bytes() const { return std::max<std::size_t>(n_, 1) * sizeof(T); }

  T* data_ = nullptr;
  std::size_t n_;
};
