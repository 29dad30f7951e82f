// SPDX-License-Identifier: MIT
// What a graph, a node of it and a capture consist of. Not for programs.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "../../runtime/work_queues.h"
#include "types.h"

namespace cuda_cpu {

using Nodes = std::vector<CUgraphNode_st*>;

/// What a node does, and what its copies do as well.
struct NodeContents {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  Work work;
  CUevent_st* event = nullptr;  // of a node that records an event or waits for one
};

/// A capture, from cudaStreamBeginCapture to cudaStreamEndCapture.
struct Capture {
  unsigned long long id = 0;
  CUgraph_st* graph = nullptr;  // its own until it ends
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  CUstream_st* origin = nullptr;
  std::vector<CUstream_st*> streams;  // that take part
  Site began{nullptr, 0};
  bool valid = true;
  bool active = true;
};

}  // namespace cuda_cpu

/// A cudaGraphNode_t points to this.
struct CUgraphNode_st : cuda_cpu::NodeContents {
  ~CUgraphNode_st();

  CUgraph_st* graph = nullptr;
  std::unique_ptr<CUgraph_st> child;  // of a child graph's node
  cuda_cpu::Nodes after;              // what it depends on
  cuda_cpu::Nodes before;             // what depends on it
  const CUgraphNode_st* copied_from = nullptr;
  std::vector<void*> arguments;  // stands for a kernel's, which are not given back
};

/// A cudaGraph_t points to this.
struct CUgraph_st {
  ~CUgraph_st();

  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in the order in which they were added
  bool is_child = false;                               // a node owns it
};
