// SPDX-License-Identifier: MIT
// What a graph does not order. One after the other the kernels are right by luck.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// EXPECT: error: race: a
// EXPECT: of element
// EXPECT: nothing orders the two
#include <cuda_runtime.h>

#include "cases.cuh"

__global__ void write(int* x) { x[threadIdx.x] = threadIdx.x; }
__global__ void read(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x]; }

struct Streams {
  Streams() {
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
  }
  void launch(cudaGraph_t graph) {
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, first);
    cudaGraphDestroy(graph);
  }
  ~Streams() {
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(ready);
  }
  cudaStream_t first, second;
  cudaGraphExec_t ready;
};

// CASE: nodes_race
// In the capture the second stream is not told to wait, so the graph has no path from the kernel
// that writes to the one that reads.
// EXPECT: help: the two are nodes of a graph without a path from one to the other
CASE(nodes_race) {
  run_on(64, [](int* x) {
    Streams s;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    cudaStreamBeginCapture(s.first, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, s.first);
    cudaStreamWaitEvent(s.second, fork, 0);
    write<<<1, 32, 0, s.first>>>(x);
    read<<<1, 32, 0, s.second>>>(x, x + 32);
    cudaEventRecord(join, s.second);
    cudaStreamWaitEvent(s.first, join, 0);
    cudaStreamEndCapture(s.first, &graph);
    s.launch(graph);
  });
}

// CASE: event_too_early
// The node that records the event waits for nothing, so it may come before the kernel that writes;
// the other stream reads what may not be there.
CASE(event_too_early) {
  run_on(64, [](int* x) {
    Streams s;
    cudaEvent_t written;
    cudaGraph_t graph;
    cudaGraphNode_t kernel, record;
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
    s.launch(graph);
    cudaStreamWaitEvent(s.second, written, 0);
    read<<<1, 32, 0, s.second>>>(x, x + 32);
  });
}
