// SPDX-License-Identifier: MIT
// Graphs: built of nodes, captured from streams, updated, launched. The codes of calls are compared
// with an H200's (graph_calls.cuh).
#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../catch.hpp"
#include "graph_calls.cuh"
#include "handles.cuh"

namespace {

__device__ int device_number;

__global__ void append(int* log, int value) { log[++log[0]] = value; }
__global__ void set(int* x, int value) { *x = value; }
__global__ void add_to(int* x, int value) { *x += value; }
__global__ void multiply(int* x, int factor) { *x *= factor; }
__global__ void fill_index(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x + 1; }
__global__ void no_arguments() { device_number = 5; }

struct Array {
  explicit Array(int n) {
    REQUIRE(cudaMallocManaged(&p, n * sizeof(int)) == cudaSuccess);
    std::fill(p, p + n, 0);
  }
  ~Array() { cudaFree(p); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  int* p = nullptr;
};

struct Graph {
  Graph() { REQUIRE(cudaGraphCreate(&g, 0) == cudaSuccess); }
  explicit Graph(cudaGraph_t made) : g(made) {}
  ~Graph() { cudaGraphDestroy(g); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  cudaGraph_t g = nullptr;
};

struct Ready {
  explicit Ready(const Graph& graph) {
    REQUIRE(cudaGraphInstantiate(&r, graph.g, 0) == cudaSuccess);
  }
  ~Ready() { cudaGraphExecDestroy(r); }
  Ready(const Ready&) = delete;
  Ready& operator=(const Ready&) = delete;
  cudaGraphExec_t r = nullptr;
};

void run(const Ready& ready, cudaStream_t stream = nullptr) {
  REQUIRE(cudaGraphLaunch(ready.r, stream) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
}

/// One thread of a kernel.
cudaKernelNodeParams one_thread(void* kernel, void** arguments) {
  cudaKernelNodeParams p{};
  p.func = kernel;
  p.gridDim = p.blockDim = 1;
  p.kernelParams = arguments;
  return p;
}

/// A kernel's node with an int* and an int.
cudaGraphNode_t add_kernel(const Graph& graph, std::vector<cudaGraphNode_t> after, void* kernel,
                           int* x, int value) {
  void* arguments[] = {&x, &value};
  const cudaKernelNodeParams p = one_thread(kernel, arguments);
  cudaGraphNode_t node = nullptr;
  REQUIRE(cudaGraphAddKernelNode(&node, graph.g, after.data(), after.size(), &p) == cudaSuccess);
  return node;
}

std::vector<int> logged(const Array& log) {
  return std::vector<int>(log.p + 1, log.p + 1 + log.p[0]);
}

cudaGraph_t captured(cudaStream_t stream, const std::function<void()>& work) {
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  work();
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  return graph;
}

std::vector<cudaGraphNodeType> types_of(const Graph& graph) {
  std::size_t count = 0;
  REQUIRE(cudaGraphGetNodes(graph.g, nullptr, &count) == cudaSuccess);
  std::vector<cudaGraphNode_t> nodes(count);
  REQUIRE(cudaGraphGetNodes(graph.g, nodes.data(), &count) == cudaSuccess);
  std::vector<cudaGraphNodeType> types(count);
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE(cudaGraphNodeGetType(nodes[i], &types[i]) == cudaSuccess);
  }
  return types;
}

std::size_t edges_of(const Graph& graph) {
  std::size_t count = 0;
  REQUIRE(cudaGraphGetEdges(graph.g, nullptr, nullptr, nullptr, &count) == cudaSuccess);
  return count;
}

void CUDART_CB raise(void* number) { ++*static_cast<int*>(number); }

}  // namespace

TEST_CASE("calls for captures and graphs return an H200's codes") {
  std::ifstream file("tests/backend/h200_graph_calls.csv");
  REQUIRE(file);
  const std::vector<graph_calls::Line> lines = graph_calls::all();
  REQUIRE(lines.size() > 150);
  for (const graph_calls::Line& line : lines) {
    std::string stored;
    REQUIRE(std::getline(file, stored));
    CHECK(line.call + "; " + line.codes == stored);
  }
  std::string more;
  CHECK_FALSE(std::getline(file, more));
  cudaDeviceReset();
}

// FEATURE: streams and graphs: graphs captured from a stream
TEST_CASE("captured work runs when the graph is launched, each time, and not before") {
  const Array x(1);
  const Stream stream;
  const Graph graph(captured(stream.s, [&] {
    add_to<<<1, 1, 0, stream.s>>>(x.p, 3);
    multiply<<<1, 1, 0, stream.s>>>(x.p, 2);
  }));
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(*x.p == 0);
  CHECK(types_of(graph) ==
        std::vector<cudaGraphNodeType>{cudaGraphNodeTypeKernel, cudaGraphNodeTypeKernel});
  CHECK(edges_of(graph) == 1);
  const Ready ready(graph);
  run(ready, stream.s);
  CHECK(*x.p == 6);
  run(ready);
  CHECK(*x.p == 18);
}

TEST_CASE("a launch of a graph has its place in the order of a stream") {
  const Array x(1);
  const Stream stream;
  const Graph graph(captured(stream.s, [&] { multiply<<<1, 1, 0, stream.s>>>(x.p, 10); }));
  const Ready ready(graph);
  set<<<1, 1, 0, stream.s>>>(x.p, 1);
  CHECK(cudaGraphLaunch(ready.r, stream.s) == cudaSuccess);
  add_to<<<1, 1, 0, stream.s>>>(x.p, 1);
  CHECK(cudaGraphLaunch(ready.r, stream.s) == cudaSuccess);
  CHECK(*x.p == 0);  // nobody has waited yet
  CHECK(cudaStreamQuery(stream.s) == cudaErrorNotReady);
  CHECK(cudaStreamSynchronize(stream.s) == cudaSuccess);
  CHECK(*x.p == 110);
  cudaGetLastError();
}

TEST_CASE("a graph launched in two streams runs once at a time") {
  const Array log(64);
  const Stream one, other;
  const Graph graph(captured(one.s, [&] {
    append<<<1, 1, 0, one.s>>>(log.p, 1);
    append<<<1, 1, 0, one.s>>>(log.p, 2);
    append<<<1, 1, 0, one.s>>>(log.p, 3);
  }));
  const Ready ready(graph);
  for (int i = 0; i < 4; ++i) {
    CHECK(cudaGraphLaunch(ready.r, i % 2 == 0 ? one.s : other.s) == cudaSuccess);
  }
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(logged(log) == std::vector<int>{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3});
}

TEST_CASE("arguments are those of the capture, and copies read their source at the launch") {
  const Array x(2);
  const Stream stream;
  int added = 5, source = 1;
  const Graph graph(captured(stream.s, [&] {
    add_to<<<1, 1, 0, stream.s>>>(x.p, added);
    CHECK(cudaMemcpyAsync(x.p + 1, &source, sizeof(int), cudaMemcpyHostToDevice, stream.s) ==
          cudaSuccess);
  }));
  added = 500;
  source = 2;
  const Ready ready(graph);
  source = 3;
  run(ready, stream.s);
  CHECK(x.p[0] == 5);
  CHECK(x.p[1] == 3);
}

TEST_CASE("an event takes another stream into the capture, and one takes it back") {
  const Array log(16);
  const Stream first, second;
  const Event fork, join;
  const Graph graph(captured(first.s, [&] {
    append<<<1, 1, 0, first.s>>>(log.p, 1);
    CHECK(cudaEventRecord(fork.e, first.s) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(second.s, fork.e, 0) == cudaSuccess);
    cudaStreamCaptureStatus status{};
    CHECK(cudaStreamIsCapturing(second.s, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusActive);
    append<<<1, 1, 0, second.s>>>(log.p, 2);
    CHECK(cudaEventRecord(join.e, second.s) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(first.s, join.e, 0) == cudaSuccess);
    append<<<1, 1, 0, first.s>>>(log.p, 3);
  }));
  const Ready ready(graph);
  run(ready, first.s);
  CHECK(logged(log) == std::vector<int>{1, 2, 3});
  // Both streams are as they were before.
  append<<<1, 1, 0, second.s>>>(log.p, 4);
  CHECK(cudaStreamSynchronize(second.s) == cudaSuccess);
  CHECK(logged(log) == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("every node comes after those that it depends on, and before those that depend on it") {
  // 1 -> {2, 3, 4} -> 5, with 4 -> 3 as well.
  const Array log(16);
  const Graph graph;
  void* const kernel = (void*)append;
  const cudaGraphNode_t first = add_kernel(graph, {}, kernel, log.p, 1);
  const cudaGraphNode_t two = add_kernel(graph, {first}, kernel, log.p, 2);
  const cudaGraphNode_t three = add_kernel(graph, {first}, kernel, log.p, 3);
  const cudaGraphNode_t four = add_kernel(graph, {first}, kernel, log.p, 4);
  const cudaGraphNode_t last = add_kernel(graph, {two, three, four}, kernel, log.p, 5);
  CHECK(cudaGraphAddDependencies(graph.g, &four, &three, nullptr, 1) == cudaSuccess);
  std::size_t dependencies = 0, dependents = 0, roots = 0;
  CHECK(cudaGraphNodeGetDependencies(last, nullptr, nullptr, &dependencies) == cudaSuccess);
  CHECK(dependencies == 3);
  CHECK(cudaGraphNodeGetDependentNodes(first, nullptr, nullptr, &dependents) == cudaSuccess);
  CHECK(dependents == 3);
  CHECK(cudaGraphGetRootNodes(graph.g, nullptr, &roots) == cudaSuccess);
  CHECK(roots == 1);
  const Ready ready(graph);
  run(ready);
  const std::vector<int> order = logged(log);
  REQUIRE(order.size() == 5);
  CHECK(order.front() == 1);
  CHECK(order.back() == 5);
  CHECK(std::find(order.begin(), order.end(), 4) < std::find(order.begin(), order.end(), 3));
}

TEST_CASE("nodes without a path between them run in the order of the schedule") {
  const Array log(16);
  const Graph graph;
  for (int i = 1; i <= 4; ++i) add_kernel(graph, {}, (void*)append, log.p, i);
  const Ready ready(graph);
  run(ready);
  const std::vector<int> order = logged(log);
  const char* const schedule = std::getenv("CUDA_CPU_SCHEDULE");
  const std::string kind = schedule != nullptr ? schedule : "forward";
  if (kind == "forward") CHECK(order == std::vector<int>{1, 2, 3, 4});
  if (kind == "reverse") CHECK(order == std::vector<int>{4, 3, 2, 1});
  CHECK(std::set<int>(order.begin(), order.end()) == std::set<int>{1, 2, 3, 4});
}

// FEATURE: streams and graphs: graphs built of nodes
TEST_CASE("nodes of all kinds do what they say") {
  const Array x(64);
  int copied = 0, raised = 0, source = 40;
  const Graph graph;
  cudaGraphNode_t fill, words, to, kernel, host, back, empty, symbol, plain;
  const cudaMemsetParams bytes{x.p, 0, 0x11, 1, 16, 1};
  CHECK(cudaGraphAddMemsetNode(&fill, graph.g, nullptr, 0, &bytes) == cudaSuccess);
  // Two rows of three words, sixteen bytes apart.
  const cudaMemsetParams rows{x.p + 8, 16, 0x12345678, 4, 3, 2};
  CHECK(cudaGraphAddMemsetNode(&words, graph.g, nullptr, 0, &rows) == cudaSuccess);
  CHECK(cudaGraphAddMemcpyNode1D(&to, graph.g, &fill, 1, x.p + 1, &source, sizeof(int),
                                 cudaMemcpyHostToDevice) == cudaSuccess);
  kernel = add_kernel(graph, {to}, (void*)add_to, x.p + 1, 2);
  CHECK(cudaGraphAddMemcpyNode1D(&back, graph.g, &kernel, 1, &copied, x.p + 1, sizeof(int),
                                 cudaMemcpyDeviceToHost) == cudaSuccess);
  const cudaHostNodeParams call{raise, &raised};
  CHECK(cudaGraphAddHostNode(&host, graph.g, &back, 1, &call) == cudaSuccess);
  const cudaGraphNode_t both[] = {host, words};
  CHECK(cudaGraphAddEmptyNode(&empty, graph.g, both, 2) == cudaSuccess);
  const cudaKernelNodeParams none = one_thread((void*)no_arguments, nullptr);
  CHECK(cudaGraphAddKernelNode(&plain, graph.g, &empty, 1, &none) == cudaSuccess);
  void* number = nullptr;
  REQUIRE(cudaGetSymbolAddress(&number, device_number) == cudaSuccess);
  CHECK(cudaGraphAddMemcpyNode1D(&symbol, graph.g, &plain, 1, x.p + 2, number, sizeof(int),
                                 cudaMemcpyDeviceToDevice) == cudaSuccess);
  const Ready ready(graph);
  for (int launch = 1; launch <= 2; ++launch) {
    run(ready);
    CHECK(x.p[0] == 0x11111111);
    CHECK(x.p[1] == 42);
    CHECK(x.p[2] == 5);
    CHECK(copied == 42);
    CHECK(raised == launch);
    for (int i = 8; i < 16; ++i) CHECK(x.p[i] == (i % 4 == 3 ? 0 : 0x12345678));
  }
}

TEST_CASE("what a call puts on a captured stream becomes a node of its kind") {
  const Array x(4);
  const Stream stream;
  int raised = 0;
  const Graph graph(captured(stream.s, [&] {
    cudaMemsetAsync(x.p, 0, sizeof(int), stream.s);
    cudaMemcpyAsync(x.p + 1, x.p, sizeof(int), cudaMemcpyDeviceToDevice, stream.s);
    set<<<1, 1, 0, stream.s>>>(x.p + 2, 1);
    cudaLaunchHostFunc(stream.s, raise, &raised);
  }));
  CHECK(types_of(graph) ==
        std::vector<cudaGraphNodeType>{cudaGraphNodeTypeMemset, cudaGraphNodeTypeMemcpy,
                                       cudaGraphNodeTypeKernel, cudaGraphNodeTypeHost});
  CHECK(raised == 0);
  const Ready ready(graph);
  run(ready);
  CHECK(raised == 1);
}

TEST_CASE("a graph within a graph runs between what comes before and after it") {
  const Array log(32);
  const Graph inner, outer;
  void* const kernel = (void*)append;
  add_kernel(inner, {}, kernel, log.p, 2);
  add_kernel(inner, {}, kernel, log.p, 3);
  const cudaGraphNode_t before = add_kernel(outer, {}, kernel, log.p, 1);
  cudaGraphNode_t child;
  CHECK(cudaGraphAddChildGraphNode(&child, outer.g, &before, 1, inner.g) == cudaSuccess);
  add_kernel(outer, {child}, kernel, log.p, 4);
  // The node has a copy: what is added now is not part of it.
  add_kernel(inner, {}, kernel, log.p, 9);
  const Ready ready(outer);
  run(ready);
  std::vector<int> order = logged(log);
  REQUIRE(order.size() == 4);
  CHECK(order.front() == 1);
  CHECK(order.back() == 4);
  CHECK(std::set<int>(order.begin(), order.end()) == std::set<int>{1, 2, 3, 4});
  cudaGraph_t copy = nullptr;
  CHECK(cudaGraphChildGraphNodeGetGraph(child, &copy) == cudaSuccess);
  CHECK(copy != inner.g);
  std::size_t nodes = 0;
  CHECK(cudaGraphGetNodes(copy, nullptr, &nodes) == cudaSuccess);
  CHECK(nodes == 2);
}

// FEATURE: streams and graphs: updates of graphs: `cudaGraphExecUpdate`
TEST_CASE("a ready graph is one of its own: changes of the graph come later, or by an update") {
  const Array x(1);
  const Graph graph;
  const cudaGraphNode_t node = add_kernel(graph, {}, (void*)set, x.p, 1);
  const Ready ready(graph);
  int value = 2;
  int* to = x.p;
  void* arguments[] = {&to, &value};
  const cudaKernelNodeParams p = one_thread((void*)set, arguments);
  CHECK(cudaGraphKernelNodeSetParams(node, &p) == cudaSuccess);
  run(ready);
  CHECK(*x.p == 1);
  cudaGraphExecUpdateResultInfo info{};
  CHECK(cudaGraphExecUpdate(ready.r, graph.g, &info) == cudaSuccess);
  CHECK(info.result == cudaGraphExecUpdateSuccess);
  run(ready);
  CHECK(*x.p == 2);
  value = 3;
  CHECK(cudaGraphExecKernelNodeSetParams(ready.r, node, &p) == cudaSuccess);
  value = 4;  // copied
  run(ready);
  CHECK(*x.p == 3);
  const Ready again(graph);
  run(again);
  CHECK(*x.p == 2);
}

TEST_CASE("a captured kernel keeps its arguments when only its grid changes") {
  const Array x(256);
  const Stream stream;
  const Graph graph(captured(stream.s, [&] { fill_index<<<1, 32, 0, stream.s>>>(x.p); }));
  const Ready ready(graph);
  std::size_t one = 1;
  cudaGraphNode_t node = nullptr;
  REQUIRE(cudaGraphGetNodes(graph.g, &node, &one) == cudaSuccess);
  cudaKernelNodeParams p{};
  CHECK(cudaGraphKernelNodeGetParams(node, &p) == cudaSuccess);
  CHECK(p.func == reinterpret_cast<void*>(fill_index));
  CHECK(p.blockDim.x == 32);
  p.gridDim = 4;
  CHECK(cudaGraphExecKernelNodeSetParams(ready.r, node, &p) == cudaSuccess);
  run(ready);
  CHECK(x.p[127] == 32);
  CHECK(x.p[128] == 0);
}

TEST_CASE("other parameters of a ready graph") {
  const Array x(4);
  int first = 1, second = 2, raised = 0, other = 0;
  const Graph graph;
  cudaGraphNode_t copy, fill, host;
  CHECK(cudaGraphAddMemcpyNode1D(&copy, graph.g, nullptr, 0, x.p, &first, sizeof(int),
                                 cudaMemcpyHostToDevice) == cudaSuccess);
  cudaMemsetParams bytes{x.p + 1, 0, 1, 1, 4, 1};
  CHECK(cudaGraphAddMemsetNode(&fill, graph.g, nullptr, 0, &bytes) == cudaSuccess);
  cudaHostNodeParams call{raise, &raised};
  CHECK(cudaGraphAddHostNode(&host, graph.g, nullptr, 0, &call) == cudaSuccess);
  const Ready ready(graph);
  CHECK(cudaGraphExecMemcpyNodeSetParams1D(ready.r, copy, x.p, &second, sizeof(int),
                                           cudaMemcpyHostToDevice) == cudaSuccess);
  bytes.value = 2;
  CHECK(cudaGraphExecMemsetNodeSetParams(ready.r, fill, &bytes) == cudaSuccess);
  call.userData = &other;
  CHECK(cudaGraphExecHostNodeSetParams(ready.r, host, &call) == cudaSuccess);
  run(ready);
  CHECK(x.p[0] == 2);
  CHECK(x.p[1] == 0x02020202);
  CHECK(raised == 0);
  CHECK(other == 1);
  CHECK(cudaGraphExecKernelNodeSetParams(ready.r, copy, nullptr) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("a clone is a graph of its own with the same nodes") {
  const Array x(1);
  Graph clone(nullptr);
  {
    const Graph graph;
    const cudaGraphNode_t first = add_kernel(graph, {}, (void*)set, x.p, 4);
    add_kernel(graph, {first}, (void*)multiply, x.p, 2);
    CHECK(cudaGraphClone(&clone.g, graph.g) == cudaSuccess);
    cudaGraphNode_t found = nullptr;
    CHECK(cudaGraphNodeFindInClone(&found, first, clone.g) == cudaSuccess);
    CHECK(found != first);
  }
  CHECK(edges_of(clone) == 1);
  const Ready ready(clone);
  run(ready);
  CHECK(*x.p == 8);
}

TEST_CASE("a capture tells its graph and what comes next in it") {
  const Array log(16);
  const Stream stream;
  const Graph graph(captured(stream.s, [&] {
    append<<<1, 1, 0, stream.s>>>(log.p, 1);
    cudaStreamCaptureStatus status{};
    unsigned long long id = 0;
    cudaGraph_t made = nullptr;
    const cudaGraphNode_t* last = nullptr;
    std::size_t count = 0;
    CHECK(cudaStreamGetCaptureInfo(stream.s, &status, &id, &made, &last, nullptr, &count) ==
          cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusActive);
    CHECK(id != 0);
    REQUIRE(count == 1);
    std::size_t nodes = 1;
    cudaGraphNode_t node = nullptr;
    CHECK(cudaGraphGetNodes(made, &node, &nodes) == cudaSuccess);
    CHECK(node == last[0]);
  }));
}

TEST_CASE("the mode of a capture says which thread may still allocate") {
  const Stream stream;
  const auto code_of_other_thread = [&](cudaStreamCaptureMode mode) {
    REQUIRE(cudaStreamBeginCapture(stream.s, mode) == cudaSuccess);
    cudaError_t code = cudaErrorUnknown;
    std::thread([&] {
      int* x = nullptr;
      code = cudaMalloc(&x, 4);
      if (code == cudaSuccess) cudaFree(x);
      cudaGetLastError();
    }).join();
    cudaGraph_t graph = nullptr;
    if (cudaStreamEndCapture(stream.s, &graph) == cudaSuccess) cudaGraphDestroy(graph);
    cudaGetLastError();
    return code;
  };
  CHECK(code_of_other_thread(cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  CHECK(code_of_other_thread(cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  CHECK(code_of_other_thread(cudaStreamCaptureModeRelaxed) == cudaSuccess);
}

TEST_CASE("a long graph that is launched often") {
  const Array x(1);
  const Stream stream;
  constexpr int kNodes = 600, kLaunches = 5;
  const Graph graph(captured(stream.s, [&] {
    for (int i = 0; i < kNodes; ++i) add_to<<<1, 1, 0, stream.s>>>(x.p, 1);
  }));
  const Ready ready(graph);
  for (int i = 0; i < kLaunches; ++i) CHECK(cudaGraphLaunch(ready.r, stream.s) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream.s) == cudaSuccess);
  CHECK(*x.p == kNodes * kLaunches);
}

TEST_CASE("a graph and what is ready may go while a launch has not run") {
  const Array x(1);
  const Stream stream;
  {
    const Graph graph(captured(stream.s, [&] { set<<<1, 1, 0, stream.s>>>(x.p, 1); }));
    const Ready ready(graph);
    CHECK(cudaGraphLaunch(ready.r, stream.s) == cudaSuccess);
  }
  CHECK(cudaStreamSynchronize(stream.s) == cudaSuccess);
  CHECK(*x.p == 1);
}

// FEATURE: streams and graphs: nodes that record and wait for events
TEST_CASE("a node records an event, by which other work waits for a part of the graph") {
  const Array x(2);
  const Graph graph;
  const Stream stream, other;
  const Event done;
  const cudaGraphNode_t first = add_kernel(graph, {}, (void*)add_to, x.p, 4);
  cudaGraphNode_t record, read_back;
  REQUIRE(cudaGraphAddEventRecordNode(&record, graph.g, &first, 1, done.e) == cudaSuccess);
  const Ready ready(graph);
  for (int launch = 1; launch <= 2; ++launch) {
    REQUIRE(cudaGraphLaunch(ready.r, stream.s) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(other.s, done.e, 0) == cudaSuccess);
    multiply<<<1, 1, 0, other.s>>>(x.p, 3);
    REQUIRE(cudaStreamSynchronize(other.s) == cudaSuccess);
    CHECK(x.p[0] == (launch == 1 ? 12 : 48));
  }
  CHECK(cudaGraphAddEventRecordNode(&read_back, graph.g, nullptr, 0, nullptr) ==
        cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST_CASE("a node waits for an event that other work records") {
  const Array x(2);
  const Graph graph;
  const Stream stream, other;
  const Event there;
  cudaGraphNode_t wait;
  REQUIRE(cudaGraphAddEventWaitNode(&wait, graph.g, nullptr, 0, there.e) == cudaSuccess);
  add_kernel(graph, {wait}, (void*)multiply, x.p, 2);
  const Ready ready(graph);
  run(ready);  // nothing to wait for yet
  CHECK(x.p[0] == 0);
  for (int launch = 1; launch <= 2; ++launch) {
    add_to<<<1, 1, 0, other.s>>>(x.p, 5);
    REQUIRE(cudaEventRecord(there.e, other.s) == cudaSuccess);
    REQUIRE(cudaGraphLaunch(ready.r, stream.s) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(stream.s) == cudaSuccess);
    CHECK(x.p[0] == (launch == 1 ? 10 : 30));
  }
  cudaGraphNodeType type{};
  CHECK(cudaGraphNodeGetType(wait, &type) == cudaSuccess);
  CHECK(type == cudaGraphNodeTypeWaitEvent);
}

TEST_CASE("a graph whose event is gone is not launched") {
  const Array x(2);
  const Graph graph;
  cudaEvent_t event;
  cudaGraphNode_t record;
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  REQUIRE(cudaGraphAddEventRecordNode(&record, graph.g, nullptr, 0, event) == cudaSuccess);
  add_kernel(graph, {}, (void*)add_to, x.p, 4);
  const Ready ready(graph);
  REQUIRE(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaGraphLaunch(ready.r, nullptr) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(x.p[0] == 0);
}

TEST_CASE("a graph is written for Graphviz") {
  const Array x(1);
  const Graph graph;
  const cudaGraphNode_t first = add_kernel(graph, {}, (void*)set, x.p, 4);
  add_kernel(graph, {first}, (void*)multiply, x.p, 2);
  char path[] = "/tmp/graphXXXXXX";
  close(mkstemp(path));
  CHECK(cudaGraphDebugDotPrint(graph.g, path, 0) == cudaSuccess);
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  CHECK(text.find("digraph") == 0);
  CHECK(text.find("multiply") != std::string::npos);
  CHECK(text.find(" -> ") != std::string::npos);
  std::remove(path);
}
