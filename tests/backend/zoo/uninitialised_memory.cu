// SPDX-License-Identifier: MIT
// Memory that nobody wrote reads as NaN, so that it cannot pass for a result.
// EXPECT-STATUS: 0
// EXPECT-STDOUT: sum nan, first int -1

#include <cmath>
#include <cstdio>

#include "../../../common/check.cuh"

__global__ void sum(const float* x, int n, float* total) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += x[i];
  *total = s;
}

int main() {
  float *x, *total, h_total = 0;
  int first = 0;
  CUDA_CHECK(cudaMalloc(&x, 100 * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&total, sizeof(float)));
  sum<<<1, 1>>>(x, 100, total);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(&h_total, total, sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(&first, x, sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("sum %s, first int %d\n", std::isnan(h_total) ? "nan" : "a number", first);
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(total));
}
