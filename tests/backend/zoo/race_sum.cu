// SPDX-License-Identifier: MIT
// All threads of a block add to one sum without an atomic. Here they come one after the other, so
// every order of threads gives the right sum; the race detector knows that nothing orders them.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// EXPECT: {file}:{add}: error: race: a
// EXPECT: of element 0 of device memory
// EXPECT: {file}:{add}: note: a
// EXPECT: nothing orders the two
// EXPECT: help: several threads use this element at a time
// EXPECT-STDOUT: sum 64
#include <cstdio>

__global__ void count_threads(int* sum) {
  *sum += 1;  // @add
}

int main() {
  int *d_sum = nullptr, sum = 0;
  cudaMalloc(&d_sum, sizeof(int));
  cudaMemset(d_sum, 0, sizeof(int));
  count_threads<<<1, 64>>>(d_sum);
  cudaMemcpy(&sum, d_sum, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d_sum);
  std::printf("sum %d\n", sum);
}
