// SPDX-License-Identifier: MIT
// GROUP: streams and graphs
#include "program.h"

// FEATURE: graph_capture: graphs captured from a stream
__global__ void add(int* x, int n) { *x += n; }

int main() {
  int* x = numbers();
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, 5);
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaStreamSynchronize(stream));
  return answer(*x == 10);
}

// FEATURE: graph_conditions: conditional nodes of graphs
__global__ void add(int* x, int n) { *x += n; }

int main() {
  cudaGraph_t graph;
  cudaGraphConditionalHandle handle;
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNode_t node;
  cudaGraphNodeParams condition{};
  condition.type = cudaGraphNodeTypeConditional;
  condition.conditional.handle = handle;
  condition.conditional.type = cudaGraphCondTypeIf;
  condition.conditional.size = 1;
  MUST(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &condition));
  cudaGraphExec_t ready;
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  MUST(cudaGraphLaunch(ready, nullptr));
  wait();
  return answer(true);
}

// FEATURE: graph_events: nodes that record and wait for events
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

// FEATURE: graph_memory: allocations within graphs
__global__ void add(int* x, int n) { *x += n; }

int main() {
  int *x = numbers(), *y = nullptr;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  MUST(cudaMallocAsync(&y, 4, stream));
  MUST(cudaMemsetAsync(y, 0, 4, stream));
  add<<<1, 1, 0, stream>>>(y, 3);
  MUST(cudaMemcpyAsync(x, y, 4, cudaMemcpyDefault, stream));
  MUST(cudaFreeAsync(y, stream));
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaStreamSynchronize(stream));
  return answer(*x == 3);
}

// FEATURE: graph_nodes: graphs built of nodes
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

// FEATURE: graph_update: updates of graphs
__global__ void add(int* x, int n) { *x += n; }

cudaGraph_t captured(cudaStream_t stream, int* x, int n) {
  cudaGraph_t graph;
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, n);
  MUST(cudaStreamEndCapture(stream, &graph));
  return graph;
}

int main() {
  int* x = numbers();
  cudaStream_t stream;
  cudaGraphExec_t ready;
  cudaGraphExecUpdateResultInfo info;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaGraphInstantiate(&ready, captured(stream, x, 1), 0));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaGraphExecUpdate(ready, captured(stream, x, 10), &info));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaStreamSynchronize(stream));
  return answer(*x == 11);
}
