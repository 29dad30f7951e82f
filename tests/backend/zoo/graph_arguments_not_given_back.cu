// SPDX-License-Identifier: MIT
// A captured kernel's arguments cannot be changed one by one, for the backend does not know where
// they are. It says so, and the node stays as it was; with all of them it works.
// EXPECT-STATUS: 0
// EXPECT: {file}:{one}: error: cudaGraphExecKernelNodeSetParams: a node does not give its arguments back
// EXPECT: help: set kernelParams to an array with the address of every argument
// EXPECT: {file}:{extra}: error: cudaGraphExecKernelNodeSetParams: arguments by 'extra' are not supported
// EXPECT-STDOUT: one: cudaErrorNotSupported
// EXPECT-STDOUT: extra: cudaErrorNotSupported
// EXPECT-STDOUT: sum 1
// EXPECT-STDOUT: sum 11 with all arguments
#include <cuda_runtime.h>

#include <cstdio>

__global__ void add(int* x, int value) { atomicAdd(x, value); }

int launched(cudaGraphExec_t ready, int* d_x) {
  int x = 0;
  cudaGraphLaunch(ready, nullptr);
  cudaMemcpy(&x, d_x, sizeof(int), cudaMemcpyDeviceToHost);
  return x;
}

int main() {
  int *d_x, ten = 10;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaGraphNode_t node;
  cudaKernelNodeParams p, q;
  size_t count = 1;
  cudaMalloc(&d_x, sizeof(int));
  cudaMemset(d_x, 0, sizeof(int));
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<1, 1, 0, stream>>>(d_x, 1);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphGetNodes(graph, &node, &count);

  cudaGraphKernelNodeGetParams(node, &p);
  p.kernelParams[1] = &ten;
  cudaError_t code = cudaGraphExecKernelNodeSetParams(ready, node, &p);  // @one
  std::printf("one: %s\n", cudaGetErrorName(code));
  void* extra[] = {nullptr};
  q = p;
  q.extra = extra;
  code = cudaGraphExecKernelNodeSetParams(ready, node, &q);  // @extra
  std::printf("extra: %s\n", cudaGetErrorName(code));
  cudaGetLastError();
  std::printf("sum %d\n", launched(ready, d_x));

  void* all[] = {&d_x, &ten};
  p.func = (void*)add;
  p.kernelParams = all;
  cudaGraphExecKernelNodeSetParams(ready, node, &p);
  std::printf("sum %d with all arguments\n", launched(ready, d_x));
  cudaFree(d_x);
}
