// SPDX-License-Identifier: MIT
// A kernel without a bounds guard reads past the array.
// EXPECT-STATUS: 1
// EXPECT: {file}:{read}: error: out-of-bounds read in kernel 'sum_next'
// EXPECT: in kernel 'sum_next', block (7,0,0), thread (127,0,0)
// EXPECT: that is element 1024; valid are 0 to 1023
// EXPECT: {file}:{alloc}: note: allocated here by cudaMalloc
// EXPECT: {file}:{launch}: note: kernel launched here as <<<(8,1,1), (128,1,1)>>>
// EXPECT: help: guard the index
// EXPECT: {file}:{sync}: cudaDeviceSynchronize() failed: cudaErrorIllegalAddress

#include "../../../common/check.cuh"

__global__ void sum_next(const float* x, float* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] + x[i + 1];  // @read
}

int main() {
  const int n = 1024;
  float *x, *y;
  CUDA_CHECK(cudaMalloc(&y, n * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(float)));  // @alloc
  CUDA_CHECK(cudaMemset(x, 0, n * sizeof(float)));
  sum_next<<<n / 128, 128>>>(x, y);  // @launch
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());  // @sync
}
