// SPDX-License-Identifier: MIT
// A tree of shuffles for 32 lanes, in a block of 20: its sum holds what lanes read that do not
// exist.
// EXPECT: {file}:{add}: error: a shuffle reads a lane that takes no part in kernel 'sum', block (0,0,0), thread (4,0,0)
// EXPECT: __shfl_down_sync: lane 4 reads lane 20; the block ends with lane 19 of this warp
// EXPECT-STDOUT: cudaErrorLaunchFailure
// RUN: CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_SCHEDULE=random:2
#include <cstdio>

__global__ void sum(const int* x, int* total) {
  int v = x[threadIdx.x];
  for (int distance = 16; distance > 0; distance /= 2) {
    v += __shfl_down_sync(0xffffffffu, v, distance);  // @add
  }
  if (threadIdx.x == 0) *total = v;
}

int main() {
  int *d_x, *d_total;
  cudaMalloc(&d_x, 20 * sizeof(int));
  cudaMalloc(&d_total, sizeof(int));
  sum<<<1, 20>>>(d_x, d_total);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(d_x);
  cudaFree(d_total);
}
