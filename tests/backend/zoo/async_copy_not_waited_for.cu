// SPDX-License-Identifier: MIT
// A block copies its tile asynchronously, and a barrier follows: but a barrier does not wait for
// copies, the thread that began them does. In every order of threads the block sees no tile.
// RUN: CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_SCHEDULE=random:1
// EXPECT: {file}:{copy}: error: asynchronous copy that its thread has never waited for in kernel 'turn_around', block (0,0,0), thread (0,0,0)
// EXPECT: found when the block had ended: 64 of its copies were never made
// EXPECT: help: the thread that copies calls __pipeline_commit(), and __pipeline_wait_prior(0)
// EXPECT-NOT: no commit follows
// EXPECT-STDOUT: cudaErrorLaunchFailure
#include <cuda_pipeline.h>

#include <cstdio>

__global__ void turn_around(const float* x, float* y) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof(float));  // @copy
  __pipeline_commit();
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
  float *d_x = nullptr, *d_y = nullptr;
  cudaMalloc(&d_x, 64 * sizeof(float));
  cudaMalloc(&d_y, 64 * sizeof(float));
  cudaMemset(d_x, 0, 64 * sizeof(float));
  turn_around<<<1, 64>>>(d_x, d_y);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(d_x);
  cudaFree(d_y);
}
