// SPDX-License-Identifier: MIT
// A filter has one tap more than coefficients: the last read is just past the __constant__ array.
// EXPECT: {file}:{read}: error: out-of-bounds index in kernel 'filter', block (0,0,0), thread (0,0,0)
// EXPECT: index 8 of 'coefficients', float [8]
// EXPECT: valid are 0 to 7
// EXPECT: {file}:{array}: note: declared here
// EXPECT-STDOUT: cudaErrorIllegalAddress
#include <cstdio>

__constant__ float coefficients[8];  // @array

__global__ void filter(const float* x, float* y, int taps) {
  float sum = 0;
  for (int k = 0; k < taps; ++k) {
    sum += coefficients[k] * x[threadIdx.x + k];  // @read
  }
  y[threadIdx.x] = sum;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 128 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 128 * sizeof(float));
  filter<<<1, 64>>>(x, y, 9);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(x);
  cudaFree(y);
}
