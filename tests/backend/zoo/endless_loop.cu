// SPDX-License-Identifier: MIT
// A loop whose end is never reached: the step rounds to 0.
// RUN: CUDA_CPU_TIMEOUT=0.5
// RUN: CUDA_CPU_TIMEOUT=0.5 CUDA_CPU_WORKERS=1
// EXPECT: error: no progress for 0.5 s in kernel 'endless', block (1,0,0), thread (5,0,0)
// EXPECT: note: thread 5 spinning here
// EXPECT: {file}:{end}: note: threads 0-4 left the kernel here
// EXPECT: {file}:{launch}: note: kernel launched here as <<<(2,1,1), (32,1,1)>>>
// EXPECT-STDOUT: cudaErrorLaunchTimeout
#include <cstdio>

__global__ void endless(volatile int* x, int step) {
  if (blockIdx.x == 1 && threadIdx.x == 5) {
    for (int i = 0; i < 100; i += step) {
      x[5] = i;
    }
  }
}  // @end

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 64 * sizeof(int));
  endless<<<2, 32>>>(d_x, 0);  // @launch
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(d_x);
  return 0;
}
