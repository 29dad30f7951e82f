// SPDX-License-Identifier: MIT
// The last steps of a tree reduction have no __syncwarp: they need a warp that moves in lockstep,
// which no current GPU promises. Ascending order happens to hide some of it; another order does
// not.
// RUN: CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_SCHEDULE=random:1
// EXPECT-STDOUT: wrong
#include <cstdio>

__global__ void sum_warp(int* x) {
  volatile __shared__ int s[64];
  const int i = threadIdx.x;
  s[i] = x[i];
  s[i + 32] = x[i + 32];
  s[i] += s[i + 32];
  s[i] += s[i + 16];
  s[i] += s[i + 8];
  s[i] += s[i + 4];
  s[i] += s[i + 2];
  s[i] += s[i + 1];
  if (i == 0) x[0] = s[0];
}

int main() {
  int x[64];
  for (int i = 0; i < 64; ++i) x[i] = i;
  int* d_x = nullptr;
  cudaMalloc(&d_x, sizeof(x));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  sum_warp<<<1, 32>>>(d_x);
  cudaMemcpy(x, d_x, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%s\n", x[0] == 63 * 64 / 2 ? "right" : "wrong");
  cudaFree(d_x);
  return 0;
}
