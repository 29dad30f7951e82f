// SPDX-License-Identifier: MIT
// FEATURE: streams and graphs: nodes that record and wait for events
#include "program.h"

__global__ void add(int* x, int n) { *x += n; }
__global__ void multiply(int* x, int n) { *x *= n; }

int main() {
  int *x = numbers(), n = 4;
  void* arguments[] = {&x, &n};
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaGraphNode_t wait_node, kernel, record_node;
  cudaStream_t first, second;
  cudaEvent_t before, after;
  MUST(cudaStreamCreate(&first));
  MUST(cudaStreamCreate(&second));
  MUST(cudaEventCreate(&before));
  MUST(cudaEventCreate(&after));
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphAddEventWaitNode(&wait_node, graph, nullptr, 0, before));
  cudaKernelNodeParams launch{};
  launch.func = (void*)multiply;
  launch.gridDim = launch.blockDim = dim3(1);
  launch.kernelParams = arguments;
  MUST(cudaGraphAddKernelNode(&kernel, graph, &wait_node, 1, &launch));
  MUST(cudaGraphAddEventRecordNode(&record_node, graph, &kernel, 1, after));
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  add<<<1, 1, 0, second>>>(x, 3);
  MUST(cudaEventRecord(before, second));
  MUST(cudaGraphLaunch(ready, first));
  MUST(cudaStreamWaitEvent(second, after, 0));
  add<<<1, 1, 0, second>>>(x, 1);
  wait();
  return answer(*x == 13);
}
