// SPDX-License-Identifier: MIT
// A stride is counted twice: the address lies megabytes past the array, and the report still
// names that array.
// EXPECT-STATUS: 1
// EXPECT: {file}:{read}: error: out-of-bounds read in kernel 'gather'
// EXPECT: block (0,0,0), thread (1,0,0)
// EXPECT: that is element 500000; valid are 0 to 999
// EXPECT: {file}:{alloc}: note: allocated here by cudaMalloc

#include "../../../common/check.cuh"

__global__ void gather(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x * 500000];  // @read
}

int main() {
  int *x, *y;
  CUDA_CHECK(cudaMalloc(&y, 32 * sizeof(int)));
  CUDA_CHECK(cudaMalloc(&x, 1000 * sizeof(int)));  // @alloc
  gather<<<1, 32>>>(x, y);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
