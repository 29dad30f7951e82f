// SPDX-License-Identifier: MIT
// Chapter 02, the result on its way: the host overwrites it, a launch writes it, the host fetches
// and compares it. Included by single_thread_sum.cu.
#pragma once

#include <string>

#include "../../common/common.cuh"

// Overwrites every place a result may come from, so that a version that writes nothing is caught,
// and points the __device__ pointer at the result.
void poison(const OneThreadSum& s) {
  const Result poisoned = {-1, -1};
  CUDA_CHECK(cudaMemcpy(s.result, &poisoned, sizeof poisoned, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpyToSymbol(device_result, &poisoned, sizeof poisoned));
  CUDA_CHECK(cudaMemcpyToSymbol(device_result_pointer, &s.result, sizeof s.result));
  for (unsigned place = 0; place < kPlaces; ++place) {
    CUDA_CHECK(
        cudaMemcpyToSymbol(device_results, &poisoned, sizeof poisoned, place * sizeof poisoned));
  }
  CUDA_CHECK(cudaDeviceSynchronize());  // no kernel uses the managed variable any more
  managed_result = poisoned;
}

// Fetches what a version left. Each of these copies waits for the kernel: it is queued behind it.
// A managed variable is not copied, so the host has to wait by itself.
Result fetch(const std::string& version, const OneThreadSum& s) {
  Result result;
  if (version == "device_variable") {
    CUDA_CHECK(cudaMemcpyFromSymbol(&result, device_result, sizeof result));
  } else if (version == "device_array") {
    CUDA_CHECK(
        cudaMemcpyFromSymbol(&result, device_results, sizeof result, s.place * sizeof result));
  } else if (version == "managed_variable") {
    CUDA_CHECK(cudaDeviceSynchronize());
    result = managed_result;
  } else {
    CUDA_CHECK(cudaMemcpy(&result, s.result, sizeof result, cudaMemcpyDeviceToHost));
  }
  return result;
}

// The other way to a __device__ variable: its address is a device pointer like any of cudaMalloc's.
Result fetch_device_variable_by_address() {
  Result result;
  void* address = nullptr;
  CUDA_CHECK(cudaGetSymbolAddress(&address, device_result));
  CUDA_CHECK(cudaMemcpy(&result, address, sizeof result, cudaMemcpyDeviceToHost));
  return result;
}

// What 32 bits keep of a sum: the sum modulo 2^32, read as an int.
int low_32_bits(long long sum) { return static_cast<int>(static_cast<unsigned>(sum)); }

bool check(const std::string& version, const OneThreadSum& s, long long expected) {
  if (version == "narrow_accumulator") expected = low_32_bits(expected);
  bool ok = equals(version, fetch(version, s).sum, expected);
  if (version == "device_variable") {
    ok = equals(version + " by address", fetch_device_variable_by_address().sum, expected) && ok;
  }
  return ok;
}
