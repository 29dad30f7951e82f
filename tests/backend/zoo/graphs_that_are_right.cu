// SPDX-License-Identifier: MIT
// Nodes that wait for each other, two launches of a graph, work before and after it in the stream,
// and a host function: nothing is reported.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// EXPECT-STDOUT: 4 8 12 16, then 10 20 30 40; 2 calls
#include <cuda_runtime.h>

#include <cstdio>

__global__ void write(int* x) { x[threadIdx.x] += threadIdx.x + 1; }
__global__ void twice(const int* x, int* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
__global__ void sum(int* x, const int* y, const int* z) {
  x[threadIdx.x] = y[threadIdx.x] + z[threadIdx.x];
}
void CUDART_CB called(void* calls) { ++*static_cast<int*>(calls); }

int main() {
  int *x, *y, *z, *s, *h, calls = 0;
  cudaStream_t first, second;
  cudaEvent_t fork, join;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMalloc(&y, 64 * sizeof(int));
  cudaMalloc(&z, 64 * sizeof(int));
  cudaMalloc(&s, 64 * sizeof(int));
  cudaMallocHost(&h, 64 * sizeof(int));
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
  write<<<1, 32, 0, first>>>(x);
  cudaEventRecord(fork, first);
  cudaStreamWaitEvent(second, fork, 0);
  twice<<<1, 32, 0, first>>>(x, y);
  twice<<<1, 32, 0, second>>>(x, z);
  cudaEventRecord(join, second);
  cudaStreamWaitEvent(first, join, 0);
  sum<<<1, 32, 0, first>>>(s, y, z);
  cudaMemcpyAsync(h, s, 64 * sizeof(int), cudaMemcpyDeviceToHost, first);
  cudaLaunchHostFunc(first, called, &calls);
  cudaStreamEndCapture(first, &graph);
  cudaGraphInstantiate(&ready, graph, 0);

  cudaMemsetAsync(x, 0, 64 * sizeof(int), first);
  cudaMemsetAsync(s, 0, 64 * sizeof(int), first);
  cudaGraphLaunch(ready, first);
  cudaStreamSynchronize(first);
  std::printf("%d %d %d %d, then ", h[0], h[1], h[2], h[3]);
  cudaGraphLaunch(ready, first);
  sum<<<1, 32, 0, first>>>(s, s, x);
  cudaMemcpyAsync(h, s, 64 * sizeof(int), cudaMemcpyDeviceToHost, first);
  cudaStreamSynchronize(first);
  std::printf("%d %d %d %d; %d calls\n", h[0], h[1], h[2], h[3], calls);
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaFree(x);
  cudaFree(y);
  cudaFree(z);
  cudaFree(s);
  cudaFreeHost(h);
}
