// SPDX-License-Identifier: MIT
// A barrier stands in a branch that half of the block takes; the other half has left.
// EXPECT: {file}:{barrier}: error: barrier not reached by all threads of the block in kernel 'half_waits', block (0,0,0), thread (0,0,0)
// EXPECT: 32 of 64 threads wait, 32 have left the kernel
// EXPECT: {file}:{barrier}: note: threads 0-31 waiting here in __syncthreads
// EXPECT: {file}:{end}: note: threads 32-63 left the kernel here
// EXPECT: {file}:{launch}: note: kernel launched here as <<<(1,1,1), (64,1,1)>>>
// RUN: CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_SCHEDULE=random:1
#include <cstdio>

__global__ void half_waits(int* x) {
  if (threadIdx.x < 32) {
    x[threadIdx.x] = 1;
    __syncthreads();  // @barrier
  }
}  // @end

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 64 * sizeof(int));
  half_waits<<<1, 64>>>(d_x);  // @launch
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(d_x);
  return 0;
}
// EXPECT-STDOUT: cudaErrorLaunchFailure
