// SPDX-License-Identifier: MIT
// A barrier expects the whole block, and only the first half of it arrives.
// RUN: CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_SCHEDULE=random:1
// EXPECT: {file}:{wait}: error: cuda::barrier waits for arrivals that never come in kernel 'half_arrives', block (0,0,0), thread (0,0,0)
// EXPECT: in this phase 32 of 64 arrivals are missing
// EXPECT: {file}:{init}: note: initialised here
// EXPECT: {file}:{wait}: note: threads 0-31 waiting here in cuda::barrier::arrive_and_wait
// EXPECT: {file}:{end}: note: threads 32-63 left the kernel here
// EXPECT: help: in each phase as many threads have to arrive as init() says
// EXPECT-STDOUT: cudaErrorLaunchFailure
#include <cuda/barrier>

#include <cstdio>

__global__ void half_arrives(int* x) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);  // @init
  __syncthreads();
  if (threadIdx.x < 32) {
    x[threadIdx.x] = 1;
    barrier.arrive_and_wait();  // @wait
  }
}  // @end

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 64 * sizeof(int));
  half_arrives<<<1, 64>>>(d_x);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(d_x);
}
