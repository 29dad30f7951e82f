// SPDX-License-Identifier: MIT
// The right twins of async_copy_*.cu: two tiles in turn, each waited for by its threads and then,
// at a barrier, by the block; the last one ends with zeros. Nothing to report.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// EXPECT-STATUS: 0
// EXPECT-NOT: error
// EXPECT-NOT: race
// EXPECT-STDOUT: sum 499500 of 1000
#include <cuda_pipeline.h>

#include <cstdio>

constexpr unsigned kTile = 64;

__device__ void begin_tile(int* tile, const int* x, unsigned n, unsigned number) {
  const unsigned i = number * kTile + threadIdx.x;
  const bool inside = i < n;
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[inside ? i : 0], sizeof(int), inside ? 0 : 4);
  __pipeline_commit();
}

__global__ void sum(const int* x, int* result, unsigned n) {
  __shared__ int tiles[2][kTile];
  const unsigned count = (n + kTile - 1) / kTile;
  int mine = 0;
  begin_tile(tiles[0], x, n, 0);
  for (unsigned i = 0; i < count; ++i) {
    if (i + 1 < count) {
      begin_tile(tiles[(i + 1) % 2], x, n, i + 1);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();  // all have waited
    mine += tiles[i % 2][kTile - 1 - threadIdx.x];
    __syncthreads();  // all have read
  }
  atomicAdd(result, mine);
}

int main() {
  constexpr int n = 1000;
  int x[n], result = 0, *d_x = nullptr, *d_result = nullptr;
  for (int i = 0; i < n; ++i) x[i] = i;
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_result, sizeof(int));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  cudaMemset(d_result, 0, sizeof(int));
  sum<<<1, kTile>>>(d_x, d_result, n);
  cudaMemcpy(&result, d_result, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("sum %d of %d\n", result, n);
  cudaFree(d_x);
  cudaFree(d_result);
}
