// SPDX-License-Identifier: MIT
#include "graphs.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "../../engine/state/grid.h"
#include "../../report/diagnostics.h"
#include "../../runtime/errors.h"
#include "../../runtime/handles.h"
#include "../../runtime/streams.h"
#include "graph.h"

namespace cuda_cpu {
namespace {

using Node = CUgraphNode_st;

// Places for pointers to arguments, more than a kernel may have.
constexpr std::size_t kMostArguments = 1024;

/// A copy of the graph is what the node does.
void set_child(Node* node, const CUgraph_st& graph) {
  node->child = std::make_unique<CUgraph_st>();
  node->child->is_child = true;
  if (is_graph(node->graph)) handles<CUgraph_st>().add(node->child.get());
  copy_graph(graph, node->child.get());
}

bool holds(const Nodes& nodes, const Node* node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

void drop(Nodes* nodes, const Node* node) {
  nodes->erase(std::remove(nodes->begin(), nodes->end(), node), nodes->end());
}

/// Whether a program names nodes of this graph, each once.
bool are_dependencies(const CUgraph_st* graph, const cudaGraphNode_t* nodes, std::size_t count) {
  if (!is_graph(graph) || (count > 0 && nodes == nullptr)) return false;
  std::set<const Node*> seen;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_node(nodes[i]) || nodes[i]->graph != graph || !seen.insert(nodes[i]).second) {
      return false;
    }
  }
  return true;
}

/// Adds a node for a program. `make` says what it does.
template <class Make>
cudaError_t add(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* after,
                std::size_t count, cudaGraphNodeType type, Make make) {
  CUDA_CPU_BEGIN_CALL();
  if (made == nullptr || !are_dependencies(graph, after, count)) {
    return finish(cudaErrorInvalidValue);
  }
  NodeContents contents{type, {}};
  if (const int error = make(&contents)) return finish(error);
  *made = add_node(graph, std::move(contents), after, count);
  return cudaSuccess;
}

/// A call that would put a node's work on a stream.
using Call = std::function<cudaError_t(cudaStream_t)>;

/// Calls `call` with a stream of its own; what it puts there is what the node does.
int record_work(NodeContents* node, const Call& call) {
  static thread_local CUstream_st* stream = nullptr;
  if (stream == nullptr || stream->destroyed) stream = create_stream(cudaStreamNonBlocking, 0);
  auto parts = std::make_shared<std::vector<Work>>();
  stream->recorder = parts.get();
  const int error = call(stream);
  stream->recorder = nullptr;
  if (error != 0) return error;
  if (parts->empty()) return cudaErrorInvalidValue;
  node->work = parts->front();
  if (parts->size() > 1) {
    node->work.run = [parts] {
      for (const Work& part : *parts) {
        if (const int failed = part.run()) return failed;
      }
      return 0;
    };
  }
  return 0;
}

/// Gives nodes to a program: as many as it has room for, or only their number.
cudaError_t give(const Nodes& nodes, cudaGraphNode_t* room, cudaGraphEdgeData* edges,
                 std::size_t* count) {
  if (count == nullptr) return finish(cudaErrorInvalidValue);
  if (room == nullptr) {
    *count = nodes.size();
    return cudaSuccess;
  }
  for (std::size_t i = 0; i < *count; ++i) {
    room[i] = i < nodes.size() ? nodes[i] : nullptr;
    if (edges != nullptr) edges[i] = cudaGraphEdgeData{};
  }
  *count = std::min(*count, nodes.size());
  return cudaSuccess;
}

bool is_plain(const cudaGraphEdgeData& edge) {
  const cudaGraphEdgeData plain{};
  return std::memcmp(&edge, &plain, sizeof(plain)) == 0;
}

/// Checks the pairs that a program names, and calls use(from, to) for each.
template <class Use>
cudaError_t for_edges(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                      const cudaGraphEdgeData* edges, std::size_t count, bool must_be_there,
                      Use use) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_graph(graph) || (count > 0 && (from == nullptr || to == nullptr))) {
    return finish(cudaErrorInvalidValue);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const bool known = is_node(from[i]) && is_node(to[i]) && from[i]->graph == graph &&
                       to[i]->graph == graph && from[i] != to[i];
    if (!known || holds(to[i]->after, from[i]) != must_be_there) {
      return finish(cudaErrorInvalidValue);
    }
    if (edges != nullptr && !is_plain(edges[i])) return finish(cudaErrorNotSupported);
  }
  for (std::size_t i = 0; i < count; ++i) use(from[i], to[i]);
  return cudaSuccess;
}

/// Of those types that are made here.
const char* name_of(cudaGraphNodeType type) {
  static const char* const kNames[] = {"kernel", "memcpy", "memset",     "host function",
                                       "graph",  "empty",  "event wait", "event record"};
  return kNames[type];
}

/// The node that a program names, or nullptr if it is none of this type.
Node* of_type(Node* node, cudaGraphNodeType type) {
  return is_node(node) && node->type == type ? node : nullptr;
}

}  // namespace

CUgraph_st* create_graph() {
  auto* const graph = new CUgraph_st;
  handles<CUgraph_st>().add(graph);
  return graph;
}

bool is_graph(const CUgraph_st* graph) { return handles<CUgraph_st>().has(graph); }

bool is_node(const Node* node) { return handles<Node>().has(node); }

void forget_graphs() {
  handles<CUgraph_st>().clear();
  handles<Node>().clear();
}

Node* add_node(CUgraph_st* graph, NodeContents contents, const cudaGraphNode_t* after,
               std::size_t count) {
  graph->nodes.push_back(std::make_unique<Node>());
  Node* const node = graph->nodes.back().get();
  static_cast<NodeContents&>(*node) = std::move(contents);
  node->graph = graph;
  node->after.assign(after, after + count);
  for (Node* const one : node->after) one->before.push_back(node);
  if (is_graph(graph)) handles<Node>().add(node);
  return node;
}

void copy_graph(const CUgraph_st& from, CUgraph_st* to) {
  std::map<const Node*, Node*> copies;
  for (const auto& node : from.nodes) {
    Node* const copy = add_node(to, *node, nullptr, 0);
    copy->copied_from = node.get();
    if (node->child != nullptr) set_child(copy, *node->child);
    copies[node.get()] = copy;
  }
  for (const auto& [node, copy] : copies) {
    for (const Node* const one : node->after) copy->after.push_back(copies[one]);
    for (const Node* const one : node->before) copy->before.push_back(copies[one]);
  }
}

int set_kernel(NodeContents* node, const cudaKernelNodeParams* p, const Node* asked,
               const char* call, Site site) {
  if (node == nullptr || p == nullptr) return cudaErrorInvalidValue;
  if (p->func == nullptr) return cudaErrorInvalidDeviceFunction;
  if (p->extra != nullptr) {
    return misuse(site, cudaErrorNotSupported,
                  format("%s: arguments by 'extra' are not supported", call), {}, {},
                  "pass kernelParams, an array with the address of each argument");
  }
  LaunchConfig config(p->gridDim, p->blockDim, p->sharedMemBytes);
  int error = 0;
  if (asked != nullptr && !asked->arguments.empty() && p->kernelParams == asked->arguments.data()) {
    const bool untouched = std::all_of(asked->arguments.begin(), asked->arguments.end(),
                                       [](const void* one) { return one == nullptr; });
    if (!untouched || p->func != node->work.launch->function) {
      return misuse(site, cudaErrorNotSupported,
                    format("%s: a node does not give its arguments back here", call), {}, {},
                    "set kernelParams to an array with the address of every argument");
    }
    error = relaunch(node->work, config, site, &node->work);
  } else {
    error = record_work(node, [&](cudaStream_t stream) {
      config.stream = stream;
      return launch_by_address(config, p->func, p->kernelParams, call, site);
    });
  }
  // A graph has one code for all that is wrong with a launch.
  return error == cudaErrorInvalidConfiguration ? int{cudaErrorInvalidValue} : error;
}

int set_fill(NodeContents* node, const cudaMemsetParams* p, const char* call, Site site) {
  if (node == nullptr || p == nullptr ||
      (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) || p->width == 0 ||
      p->height == 0) {
    return cudaErrorInvalidValue;
  }
  const std::size_t row = p->width * p->elementSize;
  const std::size_t pitch = p->height == 1 ? row : p->pitch;
  if (pitch < row) return cudaErrorInvalidValue;
  // The bytes of the value are those of the machine's order, little-endian as a GPU's.
  const unsigned bytes = p->value;
  const auto byte = static_cast<unsigned char>(bytes);
  const unsigned repeated = byte * 0x1010101U;
  int error = 0;
  if (std::memcmp(&bytes, &repeated, p->elementSize) == 0) {
    error = record_work(node, [&](cudaStream_t stream) {
      return fill_block(call, site, p->dst, pitch, byte, row, p->height, stream);
    });
  } else {
    const auto pattern = std::make_shared<std::vector<char>>(row * p->height);
    for (std::size_t at = 0; at < pattern->size(); at += p->elementSize) {
      std::memcpy(pattern->data() + at, &bytes, p->elementSize);
    }
    error = record_work(node, [&](cudaStream_t stream) {
      return copy_block(call, site, p->dst, pitch, pattern->data(), row, row, p->height,
                        cudaMemcpyDefault, stream, true);
    });
    if (error == 0) node->work.arguments = pattern;  // as long as the copy may run
  }
  return error;
}

int set_host(NodeContents* node, const cudaHostNodeParams* p) {
  if (node == nullptr || p == nullptr) return cudaErrorInvalidValue;
  return record_work(
      node, [&](cudaStream_t stream) { return cudaLaunchHostFunc(stream, p->fn, p->userData); });
}

int set_copy(NodeContents* node, void* destination, const void* source, std::size_t bytes,
             cudaMemcpyKind kind, const char* call, Site site) {
  if (node == nullptr) return cudaErrorInvalidValue;
  return record_work(node, [&](cudaStream_t stream) {
    return copy_row(call, site, destination, source, bytes, kind, stream, true);
  });
}

int set_event(NodeContents* node, CUevent_st* event) {
  if (node == nullptr) return cudaErrorInvalidValue;
  if (!is_event(event)) return cudaErrorInvalidResourceHandle;
  node->event = event;
  return 0;
}

}  // namespace cuda_cpu

CUgraphNode_st::~CUgraphNode_st() { cuda_cpu::handles<CUgraphNode_st>().remove(this); }
CUgraph_st::~CUgraph_st() { cuda_cpu::handles<CUgraph_st>().remove(this); }

using namespace cuda_cpu;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  CUDA_CPU_BEGIN_CALL();
  if (graph == nullptr || flags != 0) return finish(cudaErrorInvalidValue);
  *graph = create_graph();
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_graph(graph) || graph->is_child) return finish(cudaErrorInvalidValue);
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  CUDA_CPU_BEGIN_CALL();
  if (clone == nullptr || !is_graph(graph)) return finish(cudaErrorInvalidValue);
  *clone = create_graph();
  copy_graph(*graph, *clone);
  return cudaSuccess;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  CUDA_CPU_BEGIN_CALL();
  if (node == nullptr || !is_graph(clone)) return finish(cudaErrorInvalidValue);
  for (const auto& one : clone->nodes) {
    if (one->copied_from != original || original == nullptr) continue;
    *node = one.get();
    return cudaSuccess;
  }
  return finish(cudaErrorInvalidValue);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* parameters, Site site) {
  return add(node, graph, after, count, cudaGraphNodeTypeKernel, [&](NodeContents* made) {
    return set_kernel(made, parameters, nullptr, "cudaGraphAddKernelNode", site);
  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* parameters, Site site) {
  return add(node, graph, after, count, cudaGraphNodeTypeMemcpy, [&](NodeContents* made) {
    return record_work(
        made, [&](cudaStream_t stream) { return cudaMemcpy3DAsync(parameters, stream, site); });
  });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count, void* destination,
                                     const void* source, size_t bytes, cudaMemcpyKind kind,
                                     Site site) {
  return add(node, graph, after, count, cudaGraphNodeTypeMemcpy, [&](NodeContents* made) {
    return set_copy(made, destination, source, bytes, kind, "cudaGraphAddMemcpyNode1D", site);
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters, Site site) {
  return add(node, graph, after, count, cudaGraphNodeTypeMemset, [&](NodeContents* made) {
    return set_fill(made, parameters, "cudaGraphAddMemsetNode", site);
  });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters) {
  return add(node, graph, after, count, cudaGraphNodeTypeHost,
             [&](NodeContents* made) { return set_host(made, parameters); });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, size_t count,
                                        cudaEvent_t event) {
  return add(node, graph, after, count, cudaGraphNodeTypeEventRecord,
             [&](NodeContents* made) { return set_event(made, event); });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* after, size_t count,
                                      cudaEvent_t event) {
  return add(node, graph, after, count, cudaGraphNodeTypeWaitEvent,
             [&](NodeContents* made) { return set_event(made, event); });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, size_t count,
                                       cudaGraph_t child) {
  const cudaError_t error =
      add(node, graph, after, count, cudaGraphNodeTypeGraph, [&](NodeContents*) {
        return is_graph(child) && child != graph ? 0 : int{cudaErrorInvalidValue};
      });
  if (error == cudaSuccess) set_child(*node, *child);
  return error;
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
  return add(node, graph, after, count, cudaGraphNodeTypeEmpty, [](NodeContents*) { return 0; });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  CUDA_CPU_BEGIN_CALL();
  if (parameters == nullptr || of_type(node, cudaGraphNodeTypeKernel) == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  if (node->work.launch == nullptr) return finish(cudaErrorNotSupported);  // a library's
  node->arguments.assign(kMostArguments, nullptr);
  const GridLaunch& launch = *node->work.launch;
  const auto shared_bytes = static_cast<unsigned>(launch.dynamic_shared_bytes);
  void* const function = const_cast<void*>(launch.function);
  *parameters = {function, launch.grid, launch.block, shared_bytes, node->arguments.data(),
                 nullptr};
  return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters, Site site) {
  CUDA_CPU_BEGIN_CALL();
  return finish(set_kernel(of_type(node, cudaGraphNodeTypeKernel), parameters, node,
                           "cudaGraphKernelNodeSetParams", site));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  CUDA_CPU_BEGIN_CALL();
  if (graph == nullptr || of_type(node, cudaGraphNodeTypeGraph) == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  *graph = node->child.get();
  return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                     size_t count) {
  return for_edges(graph, from, to, edges, count, false,
                   [](CUgraphNode_st* first, CUgraphNode_st* then) {
                     then->after.push_back(first);
                     first->before.push_back(then);
                   });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                        size_t count) {
  return for_edges(graph, from, to, edges, count, true,
                   [](CUgraphNode_st* first, CUgraphNode_st* then) {
                     drop(&then->after, first);
                     drop(&first->before, then);
                   });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_node(node)) return finish(cudaErrorInvalidValue);
  for (CUgraphNode_st* const one : node->after) drop(&one->before, node);
  for (CUgraphNode_st* const one : node->before) drop(&one->after, node);
  auto& nodes = node->graph->nodes;
  nodes.erase(
      std::find_if(nodes.begin(), nodes.end(), [=](const auto& n) { return n.get() == node; }));
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  CUDA_CPU_BEGIN_CALL();
  if (type == nullptr || !is_node(node)) return finish(cudaErrorInvalidValue);
  *type = node->type;
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_graph(graph)) return finish(cudaErrorInvalidValue);
  Nodes all;
  for (const auto& node : graph->nodes) all.push_back(node.get());
  return give(all, nodes, nullptr, count);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_graph(graph)) return finish(cudaErrorInvalidValue);
  Nodes roots;
  for (const auto& node : graph->nodes) {
    if (node->after.empty()) roots.push_back(node.get());
  }
  return give(roots, nodes, nullptr, count);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edges, size_t* count) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_graph(graph) || count == nullptr || (from == nullptr) != (to == nullptr)) {
    return finish(cudaErrorInvalidValue);
  }
  Nodes first, then;
  for (const auto& node : graph->nodes) {
    for (CUgraphNode_st* const one : node->after) {
      first.push_back(one);
      then.push_back(node.get());
    }
  }
  std::size_t room = *count;
  give(first, from, edges, &room);
  return give(then, to, edges, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                         cudaGraphEdgeData* edges, size_t* count) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_node(node)) return finish(cudaErrorInvalidValue);
  return give(node->after, dependencies, edges, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                           cudaGraphEdgeData* edges, size_t* count) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_node(node)) return finish(cudaErrorInvalidValue);
  return give(node->before, dependents, edges, count);
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_graph(graph) || path == nullptr) return finish(cudaErrorInvalidValue);
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return finish(cudaErrorOperatingSystem);
  std::fprintf(file, "digraph graph_%p {\n", static_cast<const void*>(graph));
  for (const auto& node : graph->nodes) {
    std::fprintf(file, "  n%p [label=\"%s\\n%s\"];\n", static_cast<const void*>(node.get()),
                 name_of(node->type), node->work.label.kernel);
    for (const CUgraphNode_st* const one : node->after) {
      std::fprintf(file, "  n%p -> n%p;\n", static_cast<const void*>(one),
                   static_cast<const void*>(node.get()));
    }
  }
  std::fprintf(file, "}\n");
  std::fclose(file);
  return cudaSuccess;
}
