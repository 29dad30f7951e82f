// SPDX-License-Identifier: MIT
// Managed memory has one pointer for both sides, but still two sides: a launch does not wait, and
// the host reads what was there before.
// EXPECT-STATUS: 0
// EXPECT-STDOUT: before: 1
// EXPECT-STDOUT: after: 8

#include <cstdio>

#include "../../../common/check.cuh"

__global__ void add_seven(int* x) { *x += 7; }

int main() {
  int* x;
  CUDA_CHECK(cudaMallocManaged(&x, sizeof(int)));
  *x = 1;
  add_seven<<<1, 1>>>(x);
  CUDA_CHECK_LAUNCH();
  std::printf("before: %d\n", *x);
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("after: %d\n", *x);
  CUDA_CHECK(cudaFree(x));
}
