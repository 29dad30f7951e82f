// SPDX-License-Identifier: MIT
// No bug, and nothing to report: barriers, __syncwarp, atomics, and a fence with a ticket order
// what they should, and blocks that use the same shared memory one after the other do not race.
// BUILD: cpu-tsan
// RUN: TSAN_OPTIONS=exitcode=66
// RUN: TSAN_OPTIONS=exitcode=66 CUDA_CPU_SCHEDULE=reverse
// RUN: TSAN_OPTIONS=exitcode=66 CUDA_CPU_SCHEDULE=random:1
// EXPECT-STATUS: 0
// EXPECT-NOT: ThreadSanitizer
// EXPECT-STDOUT: sum 36864
#include <cstdio>

__device__ unsigned ticket;

__global__ void sum_all(const int* x, int* partial, int* sum) {
  __shared__ int s[96];
  extern __shared__ int t[];
  __shared__ bool last;
  const unsigned i = threadIdx.x;
  t[i] = x[blockIdx.x * blockDim.x + i];
  __syncwarp();
  s[i] = t[i ^ 1];
  __syncthreads();
  for (unsigned half = 48; half >= 3; half /= 2) {
    if (i < half) s[i] += s[i + half];
    __syncthreads();
  }
  if (i == 0) {
    partial[blockIdx.x] = s[0] + s[1] + s[2];
    __threadfence();
    last = atomicAdd(&ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && i == 0) {
    __threadfence();
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
    *sum = total;
  }
}

int main() {
  constexpr int blocks = 16, block = 96;
  int x[blocks * block];
  for (int& v : x) v = 24;
  int *d_x = nullptr, *d_partial = nullptr, sum = 0;
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_partial, (blocks + 1) * sizeof(int));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  sum_all<<<blocks, block, block * sizeof(int)>>>(d_x, d_partial, d_partial + blocks);
  cudaMemcpy(&sum, d_partial + blocks, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("sum %d\n", sum);
  cudaFree(d_x);
  cudaFree(d_partial);
  return 0;
}
