// SPDX-License-Identifier: MIT
// FEATURE: streams and graphs: graphs built of nodes
#include "program.h"

__global__ void add(int* x, int n) { *x += n; }

int main() {
  int *x = numbers(), n = 4;
  void* arguments[] = {&x, &n};
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaGraphNode_t fill, kernel;
  MUST(cudaGraphCreate(&graph, 0));
  cudaMemsetParams bytes{};
  bytes.dst = x;
  bytes.value = 1;
  bytes.elementSize = 4;
  bytes.width = bytes.height = 1;
  MUST(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &bytes));
  cudaKernelNodeParams launch{};
  launch.func = (void*)add;
  launch.gridDim = launch.blockDim = dim3(1);
  launch.kernelParams = arguments;
  MUST(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  MUST(cudaGraphLaunch(ready, nullptr));
  wait();
  return answer(*x == 5);
}
