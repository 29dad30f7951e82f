// SPDX-License-Identifier: MIT
// A recursion never ends.
// EXPECT-STATUS: 1
// EXPECT: error: stack overflow in kernel 'recurse', block (0,0,0), thread (0,0,0)

#include "../../../common/check.cuh"

__device__ int depth(int n, volatile int* trail) {
  volatile int frame[16];
  frame[n % 16] = n;
  *trail = n;
  if (n < 0) return 0;  // never
  return depth(n + 1, trail) + frame[n % 16];
}

__global__ void recurse(int* x) { *x = depth(0, x); }

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, sizeof(int)));
  recurse<<<1, 1>>>(x);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
