// SPDX-License-Identifier: MIT
#include "graphs.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "../../engine/grid.h"
#include "../../runtime/call.h"
#include "../../runtime/streams.h"
#include "../textures/arrays.h"
#include "capture.h"
#include "graph.h"

namespace cuda_cpu {
namespace {

using Node = CUgraphNode_st;
using Nodes = std::vector<Node*>;

// Places for pointers to arguments, more than a kernel may have.
constexpr std::size_t kMostArguments = 1024;

struct Graphs {
  std::mutex mutex;
  std::set<const CUgraph_st*> live;
  std::set<const Node*> nodes;  // of those, and of the graphs of their nodes
};

Graphs& graphs() {
  static Graphs* const g = new Graphs;
  return *g;
}

void forget_nodes(Graphs& all, const CUgraph_st& graph) {
  for (const auto& node : graph.nodes) {
    all.nodes.erase(node.get());
    if (node->child == nullptr) continue;
    all.live.erase(node->child.get());
    forget_nodes(all, *node->child);
  }
}

void remember_nodes(Graphs& all, const CUgraph_st& graph) {
  for (const auto& node : graph.nodes) {
    all.nodes.insert(node.get());
    if (node->child == nullptr) continue;
    all.live.insert(node->child.get());
    remember_nodes(all, *node->child);
  }
}

bool holds(const Nodes& nodes, const Node* node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

void drop(Nodes* nodes, const Node* node) {
  nodes->erase(std::remove(nodes->begin(), nodes->end(), node), nodes->end());
}

/// Kernels' launches are checked when they are made; a graph has one code for what is wrong there.
int as_of_graph(int error) { return error == cudaErrorInvalidConfiguration ? 1 : error; }

/// Adds a node for a program. `make` gives what it does.
template <class Make>
cudaError_t add(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* after,
                std::size_t count, cudaGraphNodeType type, Make make) {
  if (made == nullptr || !are_dependencies(graph, after, nullptr, count)) {
    return finish(cudaErrorInvalidValue);
  }
  Work work;
  if (const int error = make(&work)) return finish(as_of_graph(error));
  *made = add_node(graph, type, std::move(work), after, count);
  return cudaSuccess;
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

bool is_of_type(const Node* node, cudaGraphNodeType type) {
  return is_node(node) && node->type == type;
}

}  // namespace

CUgraph_st* create_graph() {
  auto* const graph = new CUgraph_st;
  const std::lock_guard<std::mutex> lock(graphs().mutex);
  graphs().live.insert(graph);
  return graph;
}

void destroy_graph(CUgraph_st* graph) {
  {
    const std::lock_guard<std::mutex> lock(graphs().mutex);
    graphs().live.erase(graph);
    forget_nodes(graphs(), *graph);
  }
  delete graph;
}

bool is_graph(const CUgraph_st* graph) {
  const std::lock_guard<std::mutex> lock(graphs().mutex);
  return graphs().live.count(graph) != 0;
}

bool is_node(const Node* node) {
  const std::lock_guard<std::mutex> lock(graphs().mutex);
  return graphs().nodes.count(node) != 0;
}

void forget_graphs() {
  const std::lock_guard<std::mutex> lock(graphs().mutex);
  graphs().live.clear();
  graphs().nodes.clear();
}

Node* add_node(CUgraph_st* graph, cudaGraphNodeType type, Work work, const cudaGraphNode_t* after,
               std::size_t count) {
  graph->nodes.push_back(std::make_unique<Node>());
  Node* const node = graph->nodes.back().get();
  node->graph = graph;
  node->type = type;
  node->work = std::move(work);
  node->after.assign(after, after + count);
  for (Node* const one : node->after) one->before.push_back(node);
  const std::lock_guard<std::mutex> lock(graphs().mutex);
  graphs().nodes.insert(node);
  return node;
}

bool are_dependencies(const CUgraph_st* graph, const cudaGraphNode_t* nodes,
                      const cudaGraphEdgeData* edges, std::size_t count) {
  if (!is_graph(graph) || (count > 0 && nodes == nullptr)) return false;
  std::set<const Node*> seen;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_node(nodes[i]) || nodes[i]->graph != graph || !seen.insert(nodes[i]).second) {
      return false;
    }
    if (edges != nullptr && !is_plain(edges[i])) return false;
  }
  return true;
}

void copy_graph(const CUgraph_st& from, CUgraph_st* to) {
  std::vector<std::pair<const Node*, Node*>> copies;
  for (const auto& node : from.nodes) {
    to->nodes.push_back(std::make_unique<Node>());
    Node* const copy = to->nodes.back().get();
    copy->graph = to;
    copy->type = node->type;
    copy->work = node->work;
    copy->event = node->event;
    copy->copied_from = node.get();
    copy->memset = node->memset;
    copy->host = node->host;
    copy->enabled = node->enabled;
    if (node->child != nullptr) {
      copy->child = std::make_unique<CUgraph_st>();
      copy->child->is_child = true;
      copy_graph(*node->child, copy->child.get());
    }
    copies.push_back({node.get(), copy});
  }
  const auto copy_of = [&](const Node* node) {
    return std::find_if(copies.begin(), copies.end(),
                        [=](const auto& c) { return c.first == node; })
        ->second;
  };
  for (const auto& [node, copy] : copies) {
    for (const Node* const one : node->after) copy->after.push_back(copy_of(one));
    for (const Node* const one : node->before) copy->before.push_back(copy_of(one));
  }
}

int work_of_kernel(const Node* old, const cudaKernelNodeParams* p, const char* call, Site site,
                   Work* made) {
  if (p == nullptr) return cudaErrorInvalidValue;
  if (p->func == nullptr) return cudaErrorInvalidDeviceFunction;
  if (p->extra != nullptr) {
    return explain_misuse(site, cudaErrorNotSupported,
                          format("%s: arguments by 'extra' are not supported", call), {}, {},
                          "pass kernelParams, an array with the address of each argument");
  }
  const bool same = old != nullptr && !old->arguments.empty() &&
                    p->kernelParams == const_cast<void**>(old->arguments.data());
  if (same) {
    const bool untouched = std::all_of(old->arguments.begin(), old->arguments.end(),
                                       [](const void* one) { return one == nullptr; });
    if (!untouched || p->func != old->work.launch->function) {
      return explain_misuse(site, cudaErrorNotSupported,
                            format("%s: a node does not give its arguments back here", call), {},
                            {}, "set kernelParams to an array with the address of every argument");
    }
    return relaunch(old->work, LaunchConfig(p->gridDim, p->blockDim, p->sharedMemBytes), site,
                    made);
  }
  return record_work(
      [&](cudaStream_t stream) {
        return launch_by_address(LaunchConfig(p->gridDim, p->blockDim, p->sharedMemBytes, stream),
                                 p->func, p->kernelParams, false, call, site);
      },
      made);
}

int work_of_fill(const cudaMemsetParams* p, const char* call, Site site, Work* made) {
  if (p == nullptr || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) ||
      p->width == 0 || p->height == 0) {
    return cudaErrorInvalidValue;
  }
  const std::size_t row = p->width * p->elementSize;
  const std::size_t pitch = p->height == 1 ? row : p->pitch;
  if (pitch < row) return cudaErrorInvalidValue;
  // The bytes of the value are those of the machine's order, little-endian as a GPU's.
  const unsigned bytes = p->value;
  const auto byte = static_cast<unsigned char>(bytes);
  const unsigned repeated = byte * 0x1010101U;
  if (std::memcmp(&bytes, &repeated, p->elementSize) == 0) {
    return record_work(
        [&](cudaStream_t stream) {
          return fill_block(call, site, p->dst, pitch, byte, row, p->height, stream);
        },
        made);
  }
  const auto pattern = std::make_shared<std::vector<char>>(row * p->height);
  for (std::size_t at = 0; at < pattern->size(); at += p->elementSize) {
    std::memcpy(pattern->data() + at, &bytes, p->elementSize);
  }
  const int error = record_work(
      [&](cudaStream_t stream) {
        return copy_block(call, site, p->dst, pitch, pattern->data(), row, row, p->height,
                          cudaMemcpyDefault, stream, true);
      },
      made);
  if (error == 0) made->arguments = pattern;  // as long as the copy may run
  return error;
}

int work_of_host(const cudaHostNodeParams* p, Work* made) {
  if (p == nullptr) return cudaErrorInvalidValue;
  return record_work(
      [&](cudaStream_t stream) { return cudaLaunchHostFunc(stream, p->fn, p->userData); }, made);
}

int work_of_copy(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind,
                 const char* call, Site site, Work* made) {
  return record_work(
      [&](cudaStream_t stream) {
        return copy_block(call, site, destination, bytes, source, bytes, bytes, 1, kind, stream,
                          true);
      },
      made);
}

cudaError_t add_symbol_copy(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                            std::size_t count, const void* symbol, void* to, const void* from,
                            std::size_t bytes, std::size_t offset, cudaMemcpyKind kind, Site site) {
  CUDA_CPU_BEGIN_CALL();
  return add(node, graph, after, count, cudaGraphNodeTypeMemcpy, [&](Work* made) {
    return record_work(
        [&](cudaStream_t stream) {
          return from != nullptr
                     ? copy_to_symbol(symbol, from, bytes, offset, kind, stream, true, site)
                     : copy_from_symbol(to, symbol, bytes, offset, kind, stream, true, site);
        },
        made);
  });
}

}  // namespace cuda_cpu

using cuda_cpu::finish;
using cuda_cpu::is_graph;
using cuda_cpu::is_node;
using cuda_cpu::is_of_type;
using cuda_cpu::Work;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  CUDA_CPU_BEGIN_CALL();
  if (graph == nullptr || flags != 0) return finish(cudaErrorInvalidValue);
  *graph = cuda_cpu::create_graph();
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_graph(graph) || graph->is_child) return finish(cudaErrorInvalidValue);
  cuda_cpu::destroy_graph(graph);
  return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  CUDA_CPU_BEGIN_CALL();
  if (clone == nullptr || !is_graph(graph)) return finish(cudaErrorInvalidValue);
  *clone = cuda_cpu::create_graph();
  cuda_cpu::copy_graph(*graph, *clone);
  const std::lock_guard<std::mutex> lock(cuda_cpu::graphs().mutex);
  cuda_cpu::remember_nodes(cuda_cpu::graphs(), **clone);
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
                                   const cudaKernelNodeParams* parameters, cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::add(node, graph, after, count, cudaGraphNodeTypeKernel, [&](Work* made) {
    return cuda_cpu::work_of_kernel(nullptr, parameters, "cudaGraphAddKernelNode", site, made);
  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* parameters, cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::add(node, graph, after, count, cudaGraphNodeTypeMemcpy, [&](Work* made) {
    return cuda_cpu::record_work(
        [&](cudaStream_t stream) { return cudaMemcpy3DAsync(parameters, stream, site); }, made);
  });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count, void* destination,
                                     const void* source, size_t bytes, cudaMemcpyKind kind,
                                     cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::add(node, graph, after, count, cudaGraphNodeTypeMemcpy, [&](Work* made) {
    return cuda_cpu::work_of_copy(destination, source, bytes, kind, "cudaGraphAddMemcpyNode1D",
                                  site, made);
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters, cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  const cudaError_t error =
      cuda_cpu::add(node, graph, after, count, cudaGraphNodeTypeMemset, [&](Work* made) {
        return cuda_cpu::work_of_fill(parameters, "cudaGraphAddMemsetNode", site, made);
      });
  if (error == cudaSuccess) (*node)->memset = *parameters;
  return error;
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters) {
  CUDA_CPU_BEGIN_CALL();
  const cudaError_t error =
      cuda_cpu::add(node, graph, after, count, cudaGraphNodeTypeHost,
                    [&](Work* made) { return cuda_cpu::work_of_host(parameters, made); });
  if (error == cudaSuccess) (*node)->host = *parameters;
  return error;
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, size_t count,
                                       cudaGraph_t child) {
  CUDA_CPU_BEGIN_CALL();
  const cudaError_t error = cuda_cpu::add(
      node, graph, after, count, cudaGraphNodeTypeGraph,
      [&](Work*) { return is_graph(child) && child != graph ? 0 : int{cudaErrorInvalidValue}; });
  if (error != cudaSuccess) return error;
  (*node)->child = std::make_unique<CUgraph_st>();
  (*node)->child->is_child = true;
  cuda_cpu::copy_graph(*child, (*node)->child.get());
  const std::lock_guard<std::mutex> lock(cuda_cpu::graphs().mutex);
  cuda_cpu::graphs().live.insert((*node)->child.get());
  cuda_cpu::remember_nodes(cuda_cpu::graphs(), *(*node)->child);
  return cudaSuccess;
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::add(node, graph, after, count, cudaGraphNodeTypeEmpty, [](Work*) { return 0; });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  CUDA_CPU_BEGIN_CALL();
  if (parameters == nullptr || !is_of_type(node, cudaGraphNodeTypeKernel)) {
    return finish(cudaErrorInvalidValue);
  }
  if (node->work.launch == nullptr) return finish(cudaErrorNotSupported);  // a library's
  node->arguments.assign(cuda_cpu::kMostArguments, nullptr);
  const cuda_cpu::GridLaunch& launch = *node->work.launch;
  const auto shared_bytes = static_cast<unsigned>(launch.dynamic_shared_bytes);
  void* const function = const_cast<void*>(launch.function);
  *parameters = {function, launch.grid, launch.block, shared_bytes, node->arguments.data(),
                 nullptr};
  return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters,
                                         cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_of_type(node, cudaGraphNodeTypeKernel)) return finish(cudaErrorInvalidValue);
  return finish(cuda_cpu::as_of_graph(cuda_cpu::work_of_kernel(
      node, parameters, "cudaGraphKernelNodeSetParams", site, &node->work)));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* destination,
                                           const void* source, size_t bytes, cudaMemcpyKind kind,
                                           cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_of_type(node, cudaGraphNodeTypeMemcpy)) return finish(cudaErrorInvalidValue);
  return finish(cuda_cpu::work_of_copy(destination, source, bytes, kind,
                                       "cudaGraphMemcpyNodeSetParams1D", site, &node->work));
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  CUDA_CPU_BEGIN_CALL();
  if (parameters == nullptr || !is_of_type(node, cudaGraphNodeTypeMemset)) {
    return finish(cudaErrorInvalidValue);
  }
  // A captured one does not say.
  if (node->memset.dst == nullptr) return finish(cudaErrorNotSupported);
  *parameters = node->memset;
  return cudaSuccess;
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters,
                                         cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_of_type(node, cudaGraphNodeTypeMemset)) return finish(cudaErrorInvalidValue);
  const int error =
      cuda_cpu::work_of_fill(parameters, "cudaGraphMemsetNodeSetParams", site, &node->work);
  if (error == 0) node->memset = *parameters;
  return finish(error);
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  CUDA_CPU_BEGIN_CALL();
  if (parameters == nullptr || !is_of_type(node, cudaGraphNodeTypeHost)) {
    return finish(cudaErrorInvalidValue);
  }
  if (node->host.fn == nullptr) return finish(cudaErrorNotSupported);
  *parameters = node->host;
  return cudaSuccess;
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_of_type(node, cudaGraphNodeTypeHost)) return finish(cudaErrorInvalidValue);
  const int error = cuda_cpu::work_of_host(parameters, &node->work);
  if (error == 0) node->host = *parameters;
  return finish(error);
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  CUDA_CPU_BEGIN_CALL();
  if (graph == nullptr || !is_of_type(node, cudaGraphNodeTypeGraph)) {
    return finish(cudaErrorInvalidValue);
  }
  *graph = node->child.get();
  return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                     size_t count) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::for_edges(graph, from, to, edges, count, false,
                             [](CUgraphNode_st* first, CUgraphNode_st* then) {
                               then->after.push_back(first);
                               first->before.push_back(then);
                             });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                        size_t count) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::for_edges(graph, from, to, edges, count, true,
                             [](CUgraphNode_st* first, CUgraphNode_st* then) {
                               cuda_cpu::drop(&then->after, first);
                               cuda_cpu::drop(&first->before, then);
                             });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_node(node)) return finish(cudaErrorInvalidValue);
  for (CUgraphNode_st* const one : node->after) cuda_cpu::drop(&one->before, node);
  for (CUgraphNode_st* const one : node->before) cuda_cpu::drop(&one->after, node);
  auto& nodes = node->graph->nodes;
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [=](const auto& n) { return n.get() == node; });
  const std::lock_guard<std::mutex> lock(cuda_cpu::graphs().mutex);
  cuda_cpu::graphs().nodes.erase(node);
  if (node->child != nullptr) {
    cuda_cpu::graphs().live.erase(node->child.get());
    cuda_cpu::forget_nodes(cuda_cpu::graphs(), *node->child);
  }
  nodes.erase(found);
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
  cuda_cpu::Nodes all;
  for (const auto& node : graph->nodes) all.push_back(node.get());
  return cuda_cpu::give(all, nodes, nullptr, count);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_graph(graph)) return finish(cudaErrorInvalidValue);
  cuda_cpu::Nodes roots;
  for (const auto& node : graph->nodes) {
    if (node->after.empty()) roots.push_back(node.get());
  }
  return cuda_cpu::give(roots, nodes, nullptr, count);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edges, size_t* count) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_graph(graph) || count == nullptr || (from == nullptr) != (to == nullptr)) {
    return finish(cudaErrorInvalidValue);
  }
  cuda_cpu::Nodes first, then;
  for (const auto& node : graph->nodes) {
    for (CUgraphNode_st* const one : node->after) {
      first.push_back(one);
      then.push_back(node.get());
    }
  }
  std::size_t room = *count;
  cuda_cpu::give(first, from, edges, &room);
  return cuda_cpu::give(then, to, edges, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                         cudaGraphEdgeData* edges, size_t* count) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_node(node)) return finish(cudaErrorInvalidValue);
  return cuda_cpu::give(node->after, dependencies, edges, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                           cudaGraphEdgeData* edges, size_t* count) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_node(node)) return finish(cudaErrorInvalidValue);
  return cuda_cpu::give(node->before, dependents, edges, count);
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_graph(graph) || path == nullptr) return finish(cudaErrorInvalidValue);
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return finish(cudaErrorOperatingSystem);
  std::fprintf(file, "digraph graph_%p {\n", static_cast<const void*>(graph));
  for (const auto& node : graph->nodes) {
    std::fprintf(file, "  n%p [label=\"%s\\n%s\"];\n", static_cast<const void*>(node.get()),
                 cuda_cpu::name_of(node->type), node->work.label.kernel);
    for (const CUgraphNode_st* const one : node->after) {
      std::fprintf(file, "  n%p -> n%p;\n", static_cast<const void*>(one),
                   static_cast<const void*>(node.get()));
    }
  }
  std::fprintf(file, "}\n");
  std::fclose(file);
  return cudaSuccess;
}
