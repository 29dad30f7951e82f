// SPDX-License-Identifier: MIT
// No barrier between writing the shared array and reading a neighbour's slot: the result is wrong
// in whichever order the threads run, since some read the slot of one that has not run.
// RUN: CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_SCHEDULE=random:1
// EXPECT-STDOUT: wrong
#include <cstdio>

__global__ void reverse_block(const int* x, int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[63 - threadIdx.x];
}

int main() {
  int x[64], y[64];
  for (int i = 0; i < 64; ++i) x[i] = i;
  int* d_x = nullptr;
  cudaMalloc(&d_x, 2 * sizeof(x));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  reverse_block<<<1, 64>>>(d_x, d_x + 64);
  cudaMemcpy(y, d_x + 64, sizeof(y), cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < 64; ++i) right = right && y[i] == 63 - i;
  std::printf("%s\n", right ? "right" : "wrong");
  cudaFree(d_x);
  return 0;
}
