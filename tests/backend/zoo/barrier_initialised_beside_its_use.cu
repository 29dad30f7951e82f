// SPDX-License-Identifier: MIT
// One thread initialises a barrier, and the others use it without having waited for that. In this
// order of threads it goes well.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=forward
// EXPECT: {file}:{use}: error: race: a read in kernel 'start', block (0,0,0), thread (
// EXPECT: of element 0 of the __shared__ array 'barrier'
// EXPECT: {file}:{init}: note: a write by thread (0,0,0); nothing orders the two
// EXPECT-STDOUT: cudaSuccess
#include <cuda/barrier>

#include <cstdio>

__global__ void start() {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);  // @init
  barrier.arrive_and_wait();                         // @use
}

int main() {
  start<<<1, 64>>>();
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
