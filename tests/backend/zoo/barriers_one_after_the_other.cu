// SPDX-License-Identifier: MIT
// Several barriers on one line, which all threads pass in turn, and branches that a block takes as
// a whole.
// EXPECT-STATUS: 0
// EXPECT-NOT: error
// EXPECT-STDOUT: 36 36

#include <cstdio>

#include "../../../common/check.cuh"

#define STEP(k)                           \
  if (threadIdx.x < k) {                  \
    s[threadIdx.x] += s[threadIdx.x + k]; \
  }                                       \
  __syncthreads();

__global__ void sum(const int* x, int* total) {
  __shared__ int s[8];
  s[threadIdx.x] = x[threadIdx.x];
  // clang-format off
  __syncthreads(); if (blockIdx.x == 0) { __syncthreads(); } else { __syncthreads(); } __syncthreads();
  STEP(4) STEP(2) STEP(1)
      // clang-format on
      if (threadIdx.x == 0) total[blockIdx.x] = s[0];
}

int main() {
  const int x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int total[2] = {};
  int *d_x, *d_total;
  CUDA_CHECK(cudaMalloc(&d_x, sizeof(x)));
  CUDA_CHECK(cudaMalloc(&d_total, sizeof(total)));
  CUDA_CHECK(cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice));
  sum<<<2, 8>>>(d_x, d_total);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(total, d_total, sizeof(total), cudaMemcpyDeviceToHost));
  std::printf("%d %d\n", total[0], total[1]);
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_total));
}
