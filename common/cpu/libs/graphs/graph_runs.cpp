// SPDX-License-Identifier: MIT
// A launch of a graph is what streams and events do: nodes in a row share a hidden stream, and a
// node of another row waits for an event. So nodes without a path between them run in whatever
// order the schedule says, and the race detector knows that nothing orders them.
#include "graph_runs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "../../runtime/call.h"
#include "../../runtime/capture.h"
#include "../../runtime/events.h"
#include "graph.h"
#include "graphs.h"

/// A cudaGraphExec_t points to this.
struct CUgraphExec_st {
  CUgraph_st graph;
  unsigned long long flags = 0;
  std::vector<CUstream_st*> rows;
  std::shared_ptr<cuda_cpu::Moment> ended;  // of the latest launch
};

namespace cuda_cpu {
namespace {

using Node = CUgraphNode_st;

struct Ready {
  std::mutex mutex;
  std::set<const CUgraphExec_st*> live;
};

Ready& all_ready() {
  static Ready* const r = new Ready;
  return *r;
}

bool is_ready(const CUgraphExec_st* ready) {
  const std::lock_guard<std::mutex> lock(all_ready().mutex);
  return all_ready().live.count(ready) != 0;
}

/// The nodes in an order in which each comes after those that it depends on; empty if there is
/// none, or nothing to order.
std::vector<const Node*> in_order(const CUgraph_st& graph) {
  std::vector<const Node*> ordered;
  std::map<const Node*, std::size_t> waits_for;
  for (const auto& node : graph.nodes) waits_for[node.get()] = node->after.size();
  // As they were added, as far as possible.
  for (bool found = true; found;) {
    found = false;
    for (const auto& node : graph.nodes) {
      const auto waiting = waits_for.find(node.get());
      if (waiting == waits_for.end() || waiting->second != 0) continue;
      waits_for.erase(waiting);
      ordered.push_back(node.get());
      for (const Node* const next : node->before) --waits_for[next];
      found = true;
    }
  }
  return waits_for.empty() ? ordered : std::vector<const Node*>{};
}

/// Whether its events are there, and were not recorded in a capture, of which nothing runs.
bool has_its_events(const CUgraph_st& graph) {
  const auto has = [](const auto& node) {
    if (node->child != nullptr) return has_its_events(*node->child);
    if (node->event == nullptr) return true;
    if (!is_event(node->event)) return false;
    if (node->type == cudaGraphNodeTypeEventRecord) return true;
    const std::shared_ptr<Moment> moment = moment_of(node->event);
    return moment == nullptr || moment->capture == nullptr;
  };
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), has);
}

bool has_circle(const CUgraph_st& graph) {
  const auto inside = [](const auto& node) {
    return node->child != nullptr && has_circle(*node->child);
  };
  return (!graph.nodes.empty() && in_order(graph).empty()) ||
         std::any_of(graph.nodes.begin(), graph.nodes.end(), inside);
}

/// Where a row of nodes has come to.
struct Reached {
  std::size_t row;
  std::shared_ptr<Moment> moment;
};

/// One launch.
class Launch {
 public:
  explicit Launch(CUgraphExec_st* ready) : ready_(ready) {}

  int run(CUstream_st* stream) {
    const auto began = std::make_shared<Moment>();
    Work begin;
    begin.label.call = "cudaGraphLaunch";
    begin.needs_device_memory = false;
    begin.after = ready_->ended;  // a graph runs once at a time
    begin.marks = began;
    submit(stream, std::move(begin));
    began_ = began;
    put_nodes(ready_->graph, {});
    // What the stream does next waits for all rows.
    for (const std::shared_ptr<Moment>& last : last_) put(stream, nullptr, last);
    Work end;
    end.label.call = "cudaGraphLaunch";
    end.needs_device_memory = false;
    ready_->ended = std::make_shared<Moment>();
    end.marks = ready_->ended;
    return submit(stream, std::move(end));
  }

 private:
  using Ends = std::vector<Reached>;

  void put(CUstream_st* stream, const Node* node, std::shared_ptr<Moment> after,
           std::shared_ptr<Moment> marks = nullptr) {
    Work work;
    if (node != nullptr && node->enabled) work = node->work;
    if (!work.run) {
      work.label.call = "cudaGraphLaunch";
      work.needs_device_memory = false;
    }
    work.after = std::move(after);
    work.marks = std::move(marks);
    submit(stream, std::move(work));
  }

  /// The row that a node goes on with: one that ends with what it waits for, or a new one.
  std::size_t row_for(const Ends& after) {
    for (const Reached& one : after) {
      if (last_[one.row] == one.moment) return one.row;
    }
    last_.push_back(began_);
    if (last_.size() > ready_->rows.size()) {
      ready_->rows.push_back(create_stream(cudaStreamNonBlocking, 0));
      ready_->rows.back()->is_of_graph = true;
    }
    return last_.size() - 1;
  }

  Ends put_node(const Node* node, Ends after) {
    if (node->child != nullptr && node->enabled) after = put_nodes(*node->child, std::move(after));
    const std::size_t row = row_for(after);
    CUstream_st* const stream = ready_->rows[row];
    if (after.empty()) put(stream, nullptr, began_);
    for (const Reached& one : after) {
      if (one.row != row || last_[row] != one.moment) put(stream, nullptr, one.moment);
    }
    if (node->type == cudaGraphNodeTypeEventRecord) {
      put(stream, nullptr, nullptr, record_moment(node->event));
    } else if (node->type == cudaGraphNodeTypeWaitEvent) {
      put(stream, nullptr, moment_of(node->event));
    }
    last_[row] = std::make_shared<Moment>();
    put(stream, node, nullptr, last_[row]);
    return {{row, last_[row]}};
  }

  /// Puts the nodes of a graph, or of one within it, after others. Returns what comes last, or
  /// `after` if there is nothing.
  Ends put_nodes(const CUgraph_st& graph, Ends after) {
    std::map<const Node*, Ends> done;
    Ends ends;
    for (const Node* const node : in_order(graph)) {
      Ends waits = node->after.empty() ? after : Ends{};
      for (const Node* const one : node->after) {
        waits.insert(waits.end(), done[one].begin(), done[one].end());
      }
      done[node] = put_node(node, std::move(waits));
      if (node->before.empty()) {
        ends.insert(ends.end(), done[node].begin(), done[node].end());
      }
    }
    return ends.empty() ? after : ends;
  }

  CUgraphExec_st* ready_;
  std::shared_ptr<Moment> began_;
  std::vector<std::shared_ptr<Moment>> last_;  // of each row
};

/// The node of a ready graph that was made of one that the program names.
Node* node_in(const CUgraph_st& graph, const Node* original) {
  for (const auto& node : graph.nodes) {
    if (node->copied_from == original) return node.get();
    if (node->child == nullptr) continue;
    if (Node* const found = node_in(*node->child, original)) return found;
  }
  return nullptr;
}

std::size_t number_of(const Node* node) {
  const auto& nodes = node->graph->nodes;
  return static_cast<std::size_t>(
      std::find_if(nodes.begin(), nodes.end(), [=](const auto& n) { return n.get() == node; }) -
      nodes.begin());
}

std::set<std::size_t> numbers_of(const std::vector<Node*>& nodes) {
  std::set<std::size_t> numbers;
  for (const Node* const node : nodes) numbers.insert(number_of(node));
  return numbers;
}

/// Why a graph cannot take another's parameters.
cudaGraphExecUpdateResultInfo compare(const CUgraph_st& ready, const CUgraph_st& graph) {
  if (ready.nodes.size() != graph.nodes.size()) {
    return {cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node* const node = graph.nodes[i].get();
    const Node& old = *ready.nodes[i];
    if (node->type != old.type) {
      return {cudaGraphExecUpdateErrorNodeTypeChanged, node, nullptr};
    }
    if (numbers_of(node->after) != numbers_of(old.after)) {
      return {cudaGraphExecUpdateErrorTopologyChanged, node, nullptr};
    }
    if (node->child == nullptr) continue;
    const cudaGraphExecUpdateResultInfo inside = compare(*old.child, *node->child);
    if (inside.result != cudaGraphExecUpdateSuccess) return inside;
  }
  return {cudaGraphExecUpdateSuccess, nullptr, nullptr};
}

void take_over(CUgraph_st* ready, const CUgraph_st& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    ready->nodes[i]->work = graph.nodes[i]->work;
    ready->nodes[i]->event = graph.nodes[i]->event;
    if (graph.nodes[i]->child != nullptr) {
      take_over(ready->nodes[i]->child.get(), *graph.nodes[i]->child);
    }
  }
}

}  // namespace

Node* ready_node(CUgraphExec_st* ready, const Node* original, cudaGraphNodeType type) {
  if (!is_ready(ready) || !is_node(original)) return nullptr;
  Node* const node = node_in(ready->graph, original);
  return node != nullptr && node->type == type ? node : nullptr;
}

}  // namespace cuda_cpu

using cuda_cpu::finish;
using cuda_cpu::is_ready;
using cuda_cpu::node_in;
using cuda_cpu::ready_node;

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph,
                                 unsigned long long flags) {
  CUDA_CPU_BEGIN_CALL();
  if (const int error = cuda_cpu::capture_rules.unsafe("cudaGraphInstantiate"))
    return finish(error);
  const unsigned long long ours = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                  cudaGraphInstantiateFlagUpload |
                                  cudaGraphInstantiateFlagUseNodePriority;
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) return finish(cudaErrorNotSupported);
  if (ready == nullptr || (flags & ~ours) != 0 || !cuda_cpu::is_graph(graph) ||
      cuda_cpu::has_circle(*graph)) {
    return finish(cudaErrorInvalidValue);
  }
  auto made = std::make_unique<CUgraphExec_st>();
  made->flags = flags;
  cuda_cpu::copy_graph(*graph, &made->graph);
  *ready = made.release();
  const std::lock_guard<std::mutex> lock(cuda_cpu::all_ready().mutex);
  cuda_cpu::all_ready().live.insert(*ready);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* ready, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(ready, graph, flags);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph,
                                 cudaGraphNode_t* error_node, char* log, size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes > 0) *log = '\0';
  return cudaGraphInstantiate(ready, graph, 0);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t ready, cudaStream_t stream) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_ready(ready)) return finish(cudaErrorInvalidValue);
  if (cuda_cpu::find_stream(stream) == nullptr) return finish(cudaErrorInvalidResourceHandle);
  return cudaSuccess;  // there is no other place to bring it to
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_ready(ready)) return finish(cudaErrorInvalidValue);
  CUstream_st* const found = cuda_cpu::find_stream(stream);
  if (found == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (cuda_cpu::is_captured(stream) || found->is_default) {
    // Refused there as a capture refuses all work that is no node.
    cuda_cpu::Work refused;
    refused.label.call = "cudaGraphLaunch";
    int error = 0;
    if (cuda_cpu::capture_rules.take_work(found, &refused, &error)) return finish(error);
  }
  if (!cuda_cpu::has_its_events(ready->graph)) return finish(cudaErrorInvalidResourceHandle);
  return finish(cuda_cpu::Launch(ready).run(stream));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_ready(ready)) return finish(cudaErrorInvalidValue);
  for (CUstream_st* const row : ready->rows) cuda_cpu::destroy_stream(row);
  {
    const std::lock_guard<std::mutex> lock(cuda_cpu::all_ready().mutex);
    cuda_cpu::all_ready().live.erase(ready);
  }
  delete ready;
  return cudaSuccess;
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t ready, unsigned long long* flags) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_ready(ready) || flags == nullptr) return finish(cudaErrorInvalidValue);
  *flags = ready->flags;
  return cudaSuccess;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t ready, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_ready(ready) || !cuda_cpu::is_graph(graph) || info == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  *info = cuda_cpu::compare(ready->graph, *graph);
  if (info->result != cudaGraphExecUpdateSuccess) return finish(cudaErrorGraphExecUpdateFailure);
  cuda_cpu::take_over(&ready->graph, *graph);
  return cudaSuccess;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t ready, cudaGraph_t graph,
                                cudaGraphNode_t* error_node, cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t error = cudaGraphExecUpdate(ready, graph, &info);
  if (error_node != nullptr) *error_node = info.errorNode;
  if (result != nullptr) *result = info.result;
  return error;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t original,
                                             const cudaKernelNodeParams* parameters,
                                             cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (parameters != nullptr && parameters->func == nullptr) {
    return finish(cudaErrorInvalidDeviceFunction);
  }
  CUgraphNode_st* const node = ready_node(ready, original, cudaGraphNodeTypeKernel);
  if (node == nullptr) return finish(cudaErrorInvalidValue);
  // What stands for the arguments is the original's; the arguments themselves may have changed.
  node->arguments.swap(original->arguments);
  const int error = cuda_cpu::work_of_kernel(node, parameters, "cudaGraphExecKernelNodeSetParams",
                                             site, &node->work);
  node->arguments.swap(original->arguments);
  return finish(error == cudaErrorInvalidConfiguration ? int{cudaErrorInvalidValue} : error);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t ready, cudaGraphNode_t original,
                                               void* destination, const void* source, size_t bytes,
                                               cudaMemcpyKind kind, cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  CUgraphNode_st* const node = ready_node(ready, original, cudaGraphNodeTypeMemcpy);
  if (node == nullptr) return finish(cudaErrorInvalidValue);
  return finish(cuda_cpu::work_of_copy(destination, source, bytes, kind,
                                       "cudaGraphExecMemcpyNodeSetParams1D", site, &node->work));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t original,
                                             const cudaMemsetParams* parameters,
                                             cuda_cpu::Site site) {
  CUDA_CPU_BEGIN_CALL();
  CUgraphNode_st* const node = ready_node(ready, original, cudaGraphNodeTypeMemset);
  if (node == nullptr) return finish(cudaErrorInvalidValue);
  return finish(
      cuda_cpu::work_of_fill(parameters, "cudaGraphExecMemsetNodeSetParams", site, &node->work));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t original,
                                           const cudaHostNodeParams* parameters) {
  CUDA_CPU_BEGIN_CALL();
  CUgraphNode_st* const node = ready_node(ready, original, cudaGraphNodeTypeHost);
  if (node == nullptr) return finish(cudaErrorInvalidValue);
  return finish(cuda_cpu::work_of_host(parameters, &node->work));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t original,
                                                 cudaGraph_t child) {
  CUDA_CPU_BEGIN_CALL();
  CUgraphNode_st* const node = ready_node(ready, original, cudaGraphNodeTypeGraph);
  if (node == nullptr || !cuda_cpu::is_graph(child)) return finish(cudaErrorInvalidValue);
  if (cuda_cpu::compare(*node->child, *child).result != cudaGraphExecUpdateSuccess) {
    return finish(cudaErrorGraphExecUpdateFailure);
  }
  cuda_cpu::take_over(node->child.get(), *child);
  return cudaSuccess;
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t ready, cudaGraphNode_t original,
                                    unsigned int enabled) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_ready(ready) || !cuda_cpu::is_node(original)) return finish(cudaErrorInvalidValue);
  CUgraphNode_st* const node = node_in(ready->graph, original);
  // Kernels, copies and fills.
  if (node == nullptr || node->type > cudaGraphNodeTypeMemset) return finish(cudaErrorInvalidValue);
  node->enabled = enabled != 0;
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t ready, cudaGraphNode_t original,
                                    unsigned int* enabled) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_ready(ready) || !cuda_cpu::is_node(original) || enabled == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  const CUgraphNode_st* const node = node_in(ready->graph, original);
  if (node == nullptr || node->type > cudaGraphNodeTypeMemset) return finish(cudaErrorInvalidValue);
  *enabled = node->enabled ? 1 : 0;
  return cudaSuccess;
}
