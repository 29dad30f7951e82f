// SPDX-License-Identifier: MIT
// The node that records the event waits for nothing, so it may come before the kernel that writes;
// the other stream reads what may not be there. One after the other they are right by luck.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// EXPECT: error: race: a
// EXPECT: of element
// EXPECT: nothing orders the two
#include <cuda_runtime.h>

__global__ void write(int* x) { x[threadIdx.x] = threadIdx.x; }
__global__ void read(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x]; }

int main() {
  int* x;
  cudaStream_t first, second;
  cudaEvent_t written;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaGraphNode_t kernel, record;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEventCreate(&written);
  cudaGraphCreate(&graph, 0);
  void* arguments[] = {&x};
  cudaKernelNodeParams launch{};
  launch.func = (void*)write;
  launch.gridDim = dim3(1);
  launch.blockDim = dim3(32);
  launch.kernelParams = arguments;
  cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch);
  cudaGraphAddEventRecordNode(&record, graph, nullptr, 0, written);  // after &kernel, 1
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, first);
  cudaStreamWaitEvent(second, written, 0);
  read<<<1, 32, 0, second>>>(x, x + 32);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaFree(x);
}
