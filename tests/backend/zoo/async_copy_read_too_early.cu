// SPDX-License-Identifier: MIT
// Two tiles are copied, one batch each; the wait leaves out one batch too many, so that the barrier
// after it tells of copies that are under way. The last wait makes up for it, too late.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// EXPECT: {file}:{read}: error: race: a read while an asynchronous copy to it is under way in kernel 'turn_around', block (0,0,0), thread (
// EXPECT: {file}:{copy}: note: the copy began here, by thread (
// EXPECT: help: the thread that copies waits for it first (__pipeline_commit, then __pipeline_wait_prior)
// EXPECT-NOT: never waited for
// EXPECT-NOT: {file}:{second}: error
// EXPECT-STDOUT: cudaSuccess
#include <cuda_pipeline.h>

#include <cstdio>

__global__ void turn_around(const float* x, float* y) {
  __shared__ float tiles[2][64];
  const unsigned t = threadIdx.x;
  for (int i = 0; i < 2; ++i) {
    __pipeline_memcpy_async(&tiles[i][t], &x[64 * i + t], sizeof(float));  // @copy
    __pipeline_commit();
  }
  __pipeline_wait_prior(2);
  __syncthreads();
  y[t] = tiles[0][63 - t];  // @read
  __pipeline_wait_prior(0);
  __syncthreads();
  y[64 + t] = tiles[1][63 - t];  // @second
}

int main() {
  float *d_x = nullptr, *d_y = nullptr;
  cudaMalloc(&d_x, 128 * sizeof(float));
  cudaMalloc(&d_y, 128 * sizeof(float));
  cudaMemset(d_x, 0, 128 * sizeof(float));
  turn_around<<<1, 64>>>(d_x, d_y);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(d_x);
  cudaFree(d_y);
}
