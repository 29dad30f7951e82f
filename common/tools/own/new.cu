// SPDX-License-Identifier: MIT
// make run FILE=work/NAME.cu   or   nvcc work/NAME.cu -o NAME && ./NAME

#include <cstdio>
#include <vector>

__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

int main() {
  const int n = 1000;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = i;

  float *d_x, *d_y;
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_y, n * sizeof(float));
  cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  twice<<<(n + 255) / 256, 256>>>(d_x, d_y, n);
  cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);

  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += y[i] != 2 * x[i];
  printf("%d of %d results are wrong. CUDA: %s\n", wrong, n,
         cudaGetErrorString(cudaGetLastError()));
  cudaFree(d_x);
  cudaFree(d_y);
  return wrong == 0 ? 0 : 1;
}
