// SPDX-License-Identifier: MIT
// What a graph does not order: one after the other the kernels are right by luck. And what it does.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
#include <cuda_runtime.h>

#include <cstdio>

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
// EXPECT: error: race: a
// EXPECT: of element
// EXPECT: nothing orders the two
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
// EXPECT: error: race: a
// EXPECT: of element
// EXPECT: nothing orders the two
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

__global__ void number(int* x) { x[threadIdx.x] += threadIdx.x + 1; }
__global__ void twice(const int* x, int* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
__global__ void sum(int* x, const int* y, const int* z) {
  x[threadIdx.x] = y[threadIdx.x] + z[threadIdx.x];
}
void CUDART_CB called(void* calls) { ++*static_cast<int*>(calls); }

// CASE: right
// Nodes that wait for each other, two launches of a graph, work before and after it in the stream,
// and a host function.
// EXPECT-STDOUT: 4 8 12 16, then 10 20 30 40; 2 calls
CASE(right) {
  run_on(256, [](int* x) {
    Streams st;
    int *const y = x + 64, *const z = x + 128, *const s = x + 192;
    int *h, calls = 0;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaMallocHost(&h, 64 * sizeof(int));
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    cudaStreamBeginCapture(st.first, cudaStreamCaptureModeGlobal);
    number<<<1, 32, 0, st.first>>>(x);
    cudaEventRecord(fork, st.first);
    cudaStreamWaitEvent(st.second, fork, 0);
    twice<<<1, 32, 0, st.first>>>(x, y);
    twice<<<1, 32, 0, st.second>>>(x, z);
    cudaEventRecord(join, st.second);
    cudaStreamWaitEvent(st.first, join, 0);
    sum<<<1, 32, 0, st.first>>>(s, y, z);
    cudaMemcpyAsync(h, s, 64 * sizeof(int), cudaMemcpyDeviceToHost, st.first);
    cudaLaunchHostFunc(st.first, called, &calls);
    cudaStreamEndCapture(st.first, &graph);

    cudaMemsetAsync(x, 0, 64 * sizeof(int), st.first);
    cudaMemsetAsync(s, 0, 64 * sizeof(int), st.first);
    st.launch(graph);
    cudaStreamSynchronize(st.first);
    std::printf("%d %d %d %d, then ", h[0], h[1], h[2], h[3]);
    cudaGraphLaunch(st.ready, st.first);
    sum<<<1, 32, 0, st.first>>>(s, s, x);
    cudaMemcpyAsync(h, s, 64 * sizeof(int), cudaMemcpyDeviceToHost, st.first);
    cudaStreamSynchronize(st.first);
    std::printf("%d %d %d %d; %d calls\n", h[0], h[1], h[2], h[3], calls);
    cudaFreeHost(h);
  });
}
