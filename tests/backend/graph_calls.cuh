// SPDX-License-Identifier: MIT
// Calls while a stream is captured and calls that build graphs, with the codes they return.
// stored_samples.cu prints them on a GPU; graphs.test.cu compares with what an H200 printed.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <vector>

namespace graph_calls {

struct Line {
  std::string call, codes;
};

__device__ int symbol;
__global__ void add(int* x, int n) { *x += n; }
inline void CUDART_CB nothing(void*) {}
inline void CUDART_CB nothing(cudaStream_t, cudaError_t, void*) {}

struct World {
  std::vector<Line>* lines;
  cudaStream_t s, t;
  cudaEvent_t e, old, never;
  int *d, *pinned, *managed = nullptr, *more = nullptr, *spare = nullptr;
  int pageable = 0;
  void* any = nullptr;
  cudaGraph_t other = nullptr, g = nullptr;
  cudaGraphExec_t exec = nullptr, exec2 = nullptr;
};

inline int launch(World& w, cudaStream_t stream) {
  add<<<1, 1, 0, stream>>>(w.d, 1);
  return cudaGetLastError();
}

/// t takes part in the capture of s.
inline void fork(World& w) {
  cudaEventRecord(w.e, w.s);
  cudaStreamWaitEvent(w.t, w.e, 0);
  launch(w, w.t);
}
inline void join(World& w) {
  cudaEventRecord(w.e, w.t);
  cudaStreamWaitEvent(w.s, w.e, 0);
}

/// A capture of t waits for one of s.
inline int merge(World& w) {
  cudaEventRecord(w.e, w.s);
  cudaStreamBeginCapture(w.t, cudaStreamCaptureModeRelaxed);
  const int code = cudaStreamWaitEvent(w.t, w.e, 0);
  return code * 1000 + cudaStreamEndCapture(w.t, &w.g);
}

/// In each mode: the call's code, the status after it, what ending gives, and whether there is a
/// graph.
template <class Call>
void in_capture(World& w, const char* name, Call call) {
  std::string text;
  for (int mode = 0; mode < 3; ++mode) {
    cudaStreamBeginCapture(w.s, static_cast<cudaStreamCaptureMode>(mode));
    launch(w, w.s);
    const int code = call(w);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(w.s, &status);
    cudaGraph_t graph = nullptr;
    const int ended = cudaStreamEndCapture(w.s, &graph);
    text += (mode > 0 ? " | " : "") + std::to_string(code) + " " + std::to_string(status) + " " +
            std::to_string(ended) + (graph != nullptr ? " graph" : " none");
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
  }
  w.lines->push_back({name, text});
}
#define IN_CAPTURE(...)                      \
  in_capture(w, #__VA_ARGS__, [](World& w) { \
    (void)w;                                 \
    return static_cast<int>((__VA_ARGS__));  \
  })

/// Outside of a capture: the call's code.
template <class Call>
void plainly(World& w, const char* name, Call call) {
  w.lines->push_back({name, std::to_string(call(w))});
  cudaGetLastError();
}
#define PLAINLY(...)                        \
  plainly(w, #__VA_ARGS__, [](World& w) {   \
    (void)w;                                \
    return static_cast<int>((__VA_ARGS__)); \
  })

inline void captures(World& w) {
  IN_CAPTURE(launch(w, w.s));
  IN_CAPTURE(launch(w, w.t));
  IN_CAPTURE(launch(w, nullptr));
  IN_CAPTURE(cudaMalloc(&w.spare, 4));
  IN_CAPTURE(cudaFree(nullptr));
  IN_CAPTURE(cudaMallocHost(&w.any, 4));
  IN_CAPTURE(cudaMallocManaged(&w.any, 4));
  IN_CAPTURE(cudaMemGetInfo(new size_t, new size_t));
  IN_CAPTURE(cudaStreamCreate(new cudaStream_t));
  IN_CAPTURE(cudaEventCreate(new cudaEvent_t));
  IN_CAPTURE(cudaDeviceSynchronize());
  IN_CAPTURE(cudaStreamSynchronize(w.s));
  IN_CAPTURE(cudaStreamSynchronize(w.t));
  IN_CAPTURE(cudaStreamSynchronize(nullptr));
  IN_CAPTURE(cudaStreamQuery(w.s));
  IN_CAPTURE(cudaStreamQuery(w.t));
  IN_CAPTURE(cudaStreamQuery(nullptr));
  IN_CAPTURE(cudaEventQuery(w.old));
  IN_CAPTURE(cudaEventSynchronize(w.old));
  IN_CAPTURE(cudaMemcpy(w.d, &w.pageable, 4, cudaMemcpyHostToDevice));
  IN_CAPTURE(cudaMemset(w.d, 0, 4));
  IN_CAPTURE(cudaMemcpyToSymbol(symbol, &w.pageable, 4));
  IN_CAPTURE(cudaMemcpyToSymbolAsync(symbol, &w.pageable, 4, 0, cudaMemcpyHostToDevice, w.s));
  IN_CAPTURE(cudaMemcpyAsync(w.d, w.pinned, 4, cudaMemcpyHostToDevice, w.s));
  IN_CAPTURE(cudaMemcpyAsync(w.d, &w.pageable, 4, cudaMemcpyHostToDevice, w.s));
  IN_CAPTURE(cudaMemcpyAsync(&w.pageable, w.d, 4, cudaMemcpyDeviceToHost, w.s));
  IN_CAPTURE(cudaMemcpyAsync(w.d, w.pinned, 4, cudaMemcpyHostToDevice, nullptr));
  IN_CAPTURE(cudaMemsetAsync(w.d, 0, 4, w.s));
  IN_CAPTURE(cudaMemsetAsync(w.managed, 0, 4, w.s));
  IN_CAPTURE(cudaMemPrefetchAsync(w.managed, 4, {cudaMemLocationTypeDevice, 0}, 0, w.s));
  IN_CAPTURE(cudaLaunchHostFunc(w.s, nothing, nullptr));
  IN_CAPTURE(cudaStreamAddCallback(w.s, nothing, nullptr, 0));
  IN_CAPTURE(cudaEventRecord(w.e, w.s));
  IN_CAPTURE(cudaEventRecord(w.e, nullptr));
  IN_CAPTURE(cudaEventRecord(w.e, w.s), cudaEventQuery(w.e));
  IN_CAPTURE(cudaEventRecord(w.e, w.s), cudaEventSynchronize(w.e));
  IN_CAPTURE(cudaEventRecord(w.e, w.s), cudaEventElapsedTime(new float, w.old, w.e));
  IN_CAPTURE(cudaEventRecord(w.e, w.s), cudaStreamWaitEvent(nullptr, w.e, 0));
  IN_CAPTURE(cudaStreamWaitEvent(w.s, w.old, 0));
  IN_CAPTURE(cudaStreamWaitEvent(w.s, w.never, 0));
  IN_CAPTURE(fork(w), join(w), 0);
  IN_CAPTURE(fork(w), 0);
  IN_CAPTURE(fork(w), join(w), launch(w, w.t));
  IN_CAPTURE(fork(w), cudaStreamEndCapture(w.t, &w.g));
  IN_CAPTURE(fork(w), cudaStreamBeginCapture(w.t, cudaStreamCaptureModeGlobal));
  IN_CAPTURE(fork(w), cudaStreamSynchronize(w.t));
  IN_CAPTURE(cudaStreamBeginCapture(w.s, cudaStreamCaptureModeGlobal));
  IN_CAPTURE(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  IN_CAPTURE(cudaStreamWaitEvent(w.s, w.old, 0), launch(w, w.s));
  IN_CAPTURE(cudaStreamWaitEvent(w.s, w.old, 0), cudaEventRecord(w.e, w.s));
  IN_CAPTURE(merge(w));
  IN_CAPTURE(cudaStreamIsCapturing(nullptr, new cudaStreamCaptureStatus));
  IN_CAPTURE(cudaGraphLaunch(w.exec, w.s));
  IN_CAPTURE(cudaGraphLaunch(w.exec, w.t));
  IN_CAPTURE(cudaGraphLaunch(w.exec, nullptr));
  IN_CAPTURE(cudaGraphInstantiate(&w.exec2, w.other, 0));
  IN_CAPTURE(cudaStreamDestroy(w.t), cudaStreamCreateWithFlags(&w.t, cudaStreamNonBlocking));
  IN_CAPTURE(cudaSetDevice(0));
  IN_CAPTURE(cudaFuncGetAttributes(new cudaFuncAttributes, add));
}

inline int use_ended_capture(World& w, int what) {
  cudaStreamBeginCapture(w.s, cudaStreamCaptureModeGlobal);
  launch(w, w.s);
  cudaEventRecord(w.e, w.s);
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(w.s, &graph);
  const int code = what == 0   ? cudaEventQuery(w.e)
                   : what == 1 ? cudaStreamWaitEvent(w.t, w.e, 0)
                               : cudaEventSynchronize(w.e);
  cudaGraphDestroy(graph);
  return code;
}

/// What a captured copy brings of a source that changes before the graph is launched.
inline int copied(World& w, int* source) {
  cudaStreamBeginCapture(w.s, cudaStreamCaptureModeGlobal);
  *source = 1;
  cudaMemcpyAsync(w.d, source, 4, cudaMemcpyHostToDevice, w.s);
  *source = 2;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamEndCapture(w.s, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  *source = 3;
  cudaGraphLaunch(exec, w.s);
  cudaStreamSynchronize(w.s);
  int seen = 0;
  cudaMemcpy(&seen, w.d, 4, cudaMemcpyDeviceToHost);
  return 1000 + seen;
}

inline int add_kernel(World& w, cudaGraphNode_t* node, cudaGraphNode_t* after, size_t count,
                      dim3 block = 1, int mistake = 0) {
  static int n = 1;
  void* arguments[] = {&w.d, &n};
  cudaKernelNodeParams p{};
  p.func = mistake == 1 ? nullptr : (void*)add;
  p.gridDim = 1;
  p.blockDim = block;
  p.kernelParams = mistake == 2 ? nullptr : arguments;
  return cudaGraphAddKernelNode(node, w.g, after, count, &p);
}

inline void nodes(World& w) {
  static cudaGraphNode_t a, b, c, foreign;
  static cudaGraph_t empty;
  PLAINLY(cudaGraphCreate(&w.g, 0));
  PLAINLY(cudaGraphCreate(&w.g, 1));
  PLAINLY(cudaGraphCreate(nullptr, 0));
  PLAINLY(cudaGraphCreate(&empty, 0));
  PLAINLY(cudaGraphAddEmptyNode(&foreign, empty, nullptr, 0));
  PLAINLY(add_kernel(w, &a, nullptr, 0));
  PLAINLY(add_kernel(w, &b, nullptr, 1));
  PLAINLY(add_kernel(w, &b, nullptr, 0, 2048));
  PLAINLY(add_kernel(w, &b, nullptr, 0, 1, 1));
  PLAINLY(add_kernel(w, &b, nullptr, 0, 1, 2));
  PLAINLY(add_kernel(w, nullptr, nullptr, 0));
  PLAINLY(add_kernel(w, &b, &foreign, 1));
  PLAINLY(add_kernel(w, &b, &a, 1));
  PLAINLY([](World& w) {
    cudaGraphNode_t two[] = {a, a};
    return add_kernel(w, &c, two, 2);
  }(w));
  PLAINLY(cudaGraphAddMemcpyNode1D(&c, w.g, &b, 1, w.d, &w.pageable, 4, cudaMemcpyHostToDevice));
  PLAINLY(cudaGraphAddMemcpyNode1D(&c, w.g, &b, 1, w.d, nullptr, 4, cudaMemcpyHostToDevice));
  PLAINLY(cudaGraphAddMemcpyNode1D(&c, w.g, &b, 1, w.d, &w.pageable, 0, cudaMemcpyHostToDevice));
  PLAINLY([](World& w) {
    cudaMemsetParams p{w.d, 4, 1, 3, 1, 1};
    return cudaGraphAddMemsetNode(&c, w.g, &b, 1, &p);
  }(w));
  PLAINLY([](World& w) {
    cudaMemsetParams p{w.d, 4, 7, 4, 1, 1};
    return cudaGraphAddMemsetNode(&c, w.g, &b, 1, &p);
  }(w));
  PLAINLY([](World& w) {
    cudaHostNodeParams p{nullptr, nullptr};
    return cudaGraphAddHostNode(&c, w.g, &b, 1, &p);
  }(w));
  PLAINLY([](World& w) {
    cudaHostNodeParams p{nothing, nullptr};
    return cudaGraphAddHostNode(&c, w.g, &b, 1, &p);
  }(w));
  PLAINLY(cudaGraphAddChildGraphNode(&c, w.g, &b, 1, w.other));
  PLAINLY(cudaGraphAddChildGraphNode(&c, w.g, &b, 1, nullptr));
  PLAINLY(cudaGraphAddDependencies(w.g, &a, &b, nullptr, 1));
  PLAINLY(cudaGraphAddDependencies(w.g, &a, &a, nullptr, 1));
  PLAINLY(cudaGraphAddDependencies(w.g, &a, &foreign, nullptr, 1));
  PLAINLY(cudaGraphAddDependencies(w.g, &a, &c, nullptr, 1));
  PLAINLY(cudaGraphRemoveDependencies(w.g, &a, &c, nullptr, 1));
  PLAINLY(cudaGraphRemoveDependencies(w.g, &a, &c, nullptr, 1));
  PLAINLY([](World& w) {
    size_t n = 0;
    cudaGraphGetNodes(w.g, nullptr, &n);
    return 1000 + int(n);
  }(w));
  PLAINLY([](World& w) {
    size_t n = 0;
    cudaGraphGetRootNodes(w.g, nullptr, &n);
    return 1000 + int(n);
  }(w));
  PLAINLY([](World& w) {
    size_t n = 0;
    cudaGraphGetEdges(w.g, nullptr, nullptr, nullptr, &n);
    return 1000 + int(n);
  }(w));
  PLAINLY([](World& w) {
    size_t n = 2;
    cudaGraphNode_t two[2];
    return cudaGraphGetNodes(w.g, two, &n) * 1000 + int(n);
  }(w));
  PLAINLY([](World& w) {
    size_t n = 99;
    static cudaGraphNode_t many[99];
    return cudaGraphGetNodes(w.g, many, &n) * 1000 + int(n);
  }(w));
  PLAINLY([](World&) {
    size_t n = 99;
    return cudaGraphNodeGetDependencies(c, nullptr, nullptr, &n) * 1000 + int(n);
  }(w));
  PLAINLY([](World&) {
    cudaGraphNodeType t{};
    return cudaGraphNodeGetType(c, &t) * 1000 + int(t);
  }(w));
  PLAINLY(cudaGraphInstantiate(&w.exec2, nullptr, 0));
  PLAINLY(cudaGraphInstantiate(&w.exec2, w.g, 1 << 20));
  PLAINLY(cudaGraphInstantiate(&w.exec2, w.g, 0));
  PLAINLY(cudaGraphLaunch(nullptr, w.s));
  PLAINLY(cudaGraphLaunch(w.exec2, w.s));
  PLAINLY(cudaStreamSynchronize(w.s));
  PLAINLY([](World& w) {
    cudaKernelNodeParams p{};
    int r = cudaGraphKernelNodeGetParams(a, &p);
    p.gridDim = 2;
    return r * 1000 + cudaGraphExecKernelNodeSetParams(w.exec2, a, &p);
  }(w));
  PLAINLY([](World& w) {
    cudaKernelNodeParams p{};
    cudaGraphKernelNodeGetParams(a, &p);
    p.blockDim = 2048;
    return cudaGraphExecKernelNodeSetParams(w.exec2, a, &p);
  }(w));
  PLAINLY([](World& w) {
    cudaKernelNodeParams p{};
    return cudaGraphExecKernelNodeSetParams(w.exec2, c, &p);
  }(w));
  PLAINLY([](World& w) {
    cudaKernelNodeParams p{};
    return cudaGraphExecKernelNodeSetParams(w.exec2, foreign, &p);
  }(w));
  PLAINLY([](World& w) {
    cudaGraphExecUpdateResultInfo i{};
    return cudaGraphExecUpdate(w.exec2, w.g, &i) * 1000 + int(i.result);
  }(w));
  PLAINLY([](World& w) {
    cudaGraphExecUpdateResultInfo i{};
    return cudaGraphExecUpdate(w.exec2, w.other, &i) * 1000 + int(i.result);
  }(w));
  PLAINLY([](World& w) {
    cudaGraphExecUpdateResultInfo i{};
    return cudaGraphExecUpdate(w.exec, empty, &i) * 1000 + int(i.result);
  }(w));
  PLAINLY(cudaGraphDestroyNode(c));
  PLAINLY([](World& w) {
    size_t n = 0;
    cudaGraphGetEdges(w.g, nullptr, nullptr, nullptr, &n);
    return 1000 + int(n);
  }(w));
  PLAINLY(cudaGraphAddDependencies(w.g, &b, &a, nullptr, 1));
  PLAINLY(cudaGraphInstantiate(&w.exec2, w.g, 0));
  PLAINLY(cudaGraphDestroy(w.g));
  PLAINLY(cudaGraphLaunch(w.exec, w.s));
  PLAINLY(cudaGraphExecDestroy(w.exec));
  PLAINLY(cudaGraphInstantiate(&w.exec2, empty, 0));
  PLAINLY(cudaGraphLaunch(w.exec2, nullptr));
  PLAINLY(cudaGraphExecDestroy(w.exec2));
  PLAINLY(cudaStreamEndCapture(w.s, &w.g));
  PLAINLY(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  PLAINLY(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed));
  PLAINLY(cudaStreamBeginCapture(w.s, static_cast<cudaStreamCaptureMode>(3)));
  PLAINLY(use_ended_capture(w, 0));
  PLAINLY(use_ended_capture(w, 1));
  PLAINLY(use_ended_capture(w, 2));
  PLAINLY(copied(w, &w.pageable));
  PLAINLY(copied(w, w.pinned));
  PLAINLY(cudaDeviceSynchronize());
}

inline std::vector<Line> all() {
  std::vector<Line> lines;
  for (const unsigned flags : {cudaStreamDefault, cudaStreamNonBlocking}) {
    World w{};
    w.lines = &lines;
    cudaStreamCreateWithFlags(&w.s, flags);
    cudaStreamCreateWithFlags(&w.t, cudaStreamNonBlocking);
    cudaEventCreate(&w.e);
    cudaEventCreate(&w.old);
    cudaEventCreate(&w.never);
    cudaMalloc(&w.d, 4);
    cudaMallocHost(&w.pinned, 4);
    cudaMallocManaged(&w.managed, 4);
    cudaEventRecord(w.old, w.t);
    cudaStreamBeginCapture(w.s, cudaStreamCaptureModeGlobal);
    launch(w, w.s);
    cudaStreamEndCapture(w.s, &w.other);
    cudaGraphInstantiate(&w.exec, w.other, 0);
    cudaDeviceSynchronize();
    lines.push_back({flags == cudaStreamDefault ? "blocking" : "non-blocking", "-"});
    captures(w);
    if (flags == cudaStreamDefault) nodes(w);
  }
  return lines;
}

}  // namespace graph_calls
