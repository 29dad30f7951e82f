// SPDX-License-Identifier: MIT
// An index wraps below zero by more than a page: that faults.
// EXPECT-STATUS: 1
// EXPECT: {file}:{read}: error: out-of-bounds read in kernel 'look_back'
// EXPECT: block (0,0,0), thread (0,0,0)
// EXPECT: that is element -2000

#include "../../../common/check.cuh"

__global__ void look_back(const int* x, int* y, int distance) {
  const int i = static_cast<int>(threadIdx.x);
  y[i] = x[i - distance];  // @read
}

int main() {
  int *x, *y;
  CUDA_CHECK(cudaMalloc(&y, 1024 * sizeof(int)));
  CUDA_CHECK(cudaMalloc(&x, 1024 * sizeof(int)));
  look_back<<<1, 1024>>>(x, y, 2000);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
