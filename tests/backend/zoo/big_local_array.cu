// SPDX-License-Identifier: MIT
// A local array is larger than a thread's stack.
// EXPECT-STATUS: 1
// EXPECT: error: stack overflow in kernel 'big', block (0,0,0), thread (0,0,0)

#include "../../../common/check.cuh"

__global__ void big(int* x, int n) {
  volatile int local[4 * 1024 * 1024];
  for (int i = 0; i < n; ++i) local[i] = i;
  *x = local[n / 2];
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, sizeof(int)));
  big<<<1, 1>>>(x, 1024);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
