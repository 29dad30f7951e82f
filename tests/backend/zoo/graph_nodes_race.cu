// SPDX-License-Identifier: MIT
// In the capture the second stream is not told to wait, so the graph has no path from the kernel
// that writes to the one that reads. One after the other they are right by luck.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// EXPECT: error: race: a
// EXPECT: of element
// EXPECT: nothing orders the two
// EXPECT: help: the two are nodes of a graph without a path from one to the other
#include <cuda_runtime.h>

__global__ void write(int* x) { x[threadIdx.x] = threadIdx.x; }
__global__ void read(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x]; }

int main() {
  int* x;
  cudaStream_t first, second;
  cudaEvent_t fork, join;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, first);
  cudaStreamWaitEvent(second, fork, 0);
  write<<<1, 32, 0, first>>>(x);
  read<<<1, 32, 0, second>>>(x, x + 32);
  cudaEventRecord(join, second);
  cudaStreamWaitEvent(first, join, 0);
  cudaStreamEndCapture(first, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, first);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaFree(x);
}
