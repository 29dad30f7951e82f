// SPDX-License-Identifier: MIT
// A filter has one tap more than coefficients. Constant memory is a plain variable here, so only
// the address sanitizer sees the read past it.
// BUILD: cpu-asan
// EXPECT: {file}:{read}:
// EXPECT: runtime error: index 8 out of bounds for type
// EXPECT-NOT: not reached

#include "../../../common/check.cuh"

__constant__ float coefficients[8];

__global__ void filter(const float* x, float* y, int taps) {
  float sum = 0;
  for (int k = 0; k < taps; ++k) {
    sum += coefficients[k] * x[threadIdx.x + k];  // @read
  }
  y[threadIdx.x] = sum;
}

int main() {
  const float values[8] = {};
  float *x, *y;
  CUDA_CHECK(cudaMalloc(&x, 128 * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&y, 64 * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, 128 * sizeof(float)));
  CUDA_CHECK(cudaMemcpyToSymbol(coefficients, values, sizeof(values)));
  filter<<<1, 64>>>(x, y, 9);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  std::fprintf(stderr, "not reached\n");
}
