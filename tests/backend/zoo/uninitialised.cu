// SPDX-License-Identifier: MIT
// Nobody sets some slots of a shared array, because the input ends earlier: they read NaN, in each
// block anew, so that they cannot pass for a result.
// EXPECT-STDOUT: block 0: 64
// EXPECT-STDOUT: block 1: nan

#include <cmath>
#include <cstdio>

__global__ void sum(const float* x, float* sums, int n) {
  __shared__ float s[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) s[threadIdx.x] = x[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0.0f;
    for (int k = 0; k < 64; ++k) total += s[k];
    sums[blockIdx.x] = total;
  }
}

int main() {
  constexpr int n = 100;
  float x[n], sums[2];
  for (float& v : x) v = 1.0f;
  float *d_x = nullptr, *d_sums = nullptr;
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_sums, sizeof(sums));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  sum<<<2, 64>>>(d_x, d_sums, n);
  cudaMemcpy(sums, d_sums, sizeof(sums), cudaMemcpyDeviceToHost);
  for (int b = 0; b < 2; ++b) {
    if (std::isnan(sums[b])) {
      std::printf("block %d: nan\n", b);
    } else {
      std::printf("block %d: %g\n", b, sums[b]);
    }
  }
  cudaFree(d_x);
  cudaFree(d_sums);
  return 0;
}
