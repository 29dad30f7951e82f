// SPDX-License-Identifier: MIT
// The host follows a device pointer.
// EXPECT-STATUS: 1
// EXPECT: {file}:{read}: error: host code read device memory
// EXPECT: the address is byte 12 of an allocation of 16 elements of 4 bytes
// EXPECT: {file}:{alloc}: note: allocated here by cudaMalloc
// EXPECT: help: a device pointer means nothing on the host; copy with cudaMemcpy

#include <cstdio>

#include "../../../common/check.cuh"

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 16 * sizeof(int)));  // @alloc
  CUDA_CHECK(cudaMemset(x, 0, 16 * sizeof(int)));
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("%d\n", x[3]);  // @read
}
