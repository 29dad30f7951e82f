// SPDX-License-Identifier: MIT
// A halving loop that never comes to 0: (1 + 1) / 2 is 1 again. Its barrier opens for ever.
// RUN: CUDA_CPU_TIMEOUT=0.3
// RUN: CUDA_CPU_TIMEOUT=0.3 CUDA_CPU_WORKERS=1 CUDA_CPU_SCHEDULE=reverse
// EXPECT: error: barrier after barrier for 1.2 s, and no thread has ended in kernel 'halves'
// EXPECT: {file}:{launch}: note: kernel launched here as <<<(2,1,1), (64,1,1)>>>
// EXPECT: help: does the loop end for every thread
// EXPECT-STDOUT: cudaErrorLaunchTimeout
#include <cstdio>

__global__ void halves(int* x) {
  for (unsigned count = blockDim.x; count > 0; count = (count + 1) / 2) {
    if (threadIdx.x < count / 2) x[threadIdx.x] += x[threadIdx.x + count / 2];
    __syncthreads();
  }
}

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 64 * sizeof(int));
  cudaMemset(d_x, 0, 64 * sizeof(int));
  halves<<<2, 64>>>(d_x);  // @launch
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(d_x);
  return 0;
}
