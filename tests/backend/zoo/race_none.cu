// SPDX-License-Identifier: MIT
// The right twin of race_sum.cu, and of its cure without atomics: nothing to report.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// EXPECT-STATUS: 0
// EXPECT-NOT: race
// EXPECT-STDOUT: sums 64 64
#include <cstdio>

__global__ void count_threads(int* sums) {
  __shared__ int ones[64];
  atomicAdd(&sums[0], 1);
  ones[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int one : ones) sums[1] += one;
  }
}

int main() {
  int *d_sums = nullptr, sums[2] = {0, 0};
  cudaMalloc(&d_sums, sizeof(sums));
  cudaMemset(d_sums, 0, sizeof(sums));
  count_threads<<<1, 64>>>(d_sums);
  cudaMemcpy(sums, d_sums, sizeof(sums), cudaMemcpyDeviceToHost);
  cudaFree(d_sums);
  std::printf("sums %d %d\n", sums[0], sums[1]);
}
