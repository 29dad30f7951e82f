// SPDX-License-Identifier: MIT
// A launch of a graph is what streams and events do: nodes in a row share a hidden stream, and a
// node of another row waits for an event. So nodes without a path between them run in whatever
// order the schedule says, and the race detector knows that nothing orders them.
#include "graph_runs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "../../runtime/capture.h"
#include "../../runtime/errors.h"
#include "../../runtime/handles.h"
#include "../../runtime/streams.h"
#include "graph.h"
#include "graphs.h"

/// A cudaGraphExec_t points to this.
struct CUgraphExec_st {
  CUgraph_st graph;
  std::vector<CUstream_st*> rows;
  std::shared_ptr<cuda_cpu::Moment> ended;  // of the latest launch
};

namespace cuda_cpu {
namespace {

using Node = CUgraphNode_st;

bool is_ready(const CUgraphExec_st* ready) { return handles<CUgraphExec_st>().has(ready); }

/// The nodes in an order in which each comes after those that it depends on; empty if there is
/// none, or nothing to order.
std::vector<const Node*> in_order(const CUgraph_st& graph) {
  std::vector<const Node*> ordered;
  std::set<const Node*> done;
  const auto is_done = [&](const Node* node) { return done.count(node) != 0; };
  // As they were added, as far as possible.
  for (bool found = true; found;) {
    found = false;
    for (const auto& node : graph.nodes) {
      const auto& after = node->after;
      if (is_done(node.get()) || !std::all_of(after.begin(), after.end(), is_done)) continue;
      done.insert(node.get());
      ordered.push_back(node.get());
      found = true;
    }
  }
  return ordered.size() == graph.nodes.size() ? ordered : std::vector<const Node*>{};
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
    put(stream, nullptr, ready_->ended, began_);  // a graph runs once at a time
    put_nodes(ready_->graph, {});
    // What the stream does next waits for all rows.
    for (const std::shared_ptr<Moment>& last : last_) put(stream, nullptr, last);
    ready_->ended = std::make_shared<Moment>();
    return put(stream, nullptr, nullptr, ready_->ended);
  }

 private:
  using Ends = std::vector<Reached>;

  int put(CUstream_st* stream, const Node* node, std::shared_ptr<Moment> after,
          std::shared_ptr<Moment> marks = nullptr) {
    Work work;
    if (node != nullptr) work = node->work;
    if (!work.run) {
      work.label.call = "cudaGraphLaunch";
      work.needs_device_memory = false;
    }
    work.after = std::move(after);
    work.marks = std::move(marks);
    return submit(stream, std::move(work));
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
    if (node->child != nullptr) after = put_nodes(*node->child, std::move(after));
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
  const std::shared_ptr<Moment> began_ = std::make_shared<Moment>();
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

/// Why a graph cannot take another's parameters.
cudaGraphExecUpdateResultInfo compare(const CUgraph_st& ready, const CUgraph_st& graph) {
  if (ready.nodes.size() != graph.nodes.size()) {
    return {cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
  }
  std::map<const Node*, const Node*> twins;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    twins[graph.nodes[i].get()] = ready.nodes[i].get();
  }
  for (const auto& node : graph.nodes) {
    const Node& old = *twins[node.get()];
    if (node->type != old.type) {
      return {cudaGraphExecUpdateErrorNodeTypeChanged, node.get(), nullptr};
    }
    std::set<const Node*> after;
    for (const Node* const one : node->after) after.insert(twins[one]);
    if (after != std::set<const Node*>(old.after.begin(), old.after.end())) {
      return {cudaGraphExecUpdateErrorTopologyChanged, node.get(), nullptr};
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

/// The same if it is of this type, else nullptr.
Node* ready_node(CUgraphExec_st* ready, const Node* original, cudaGraphNodeType type) {
  if (!is_ready(ready) || !is_node(original)) return nullptr;
  Node* const node = node_in(ready->graph, original);
  return node != nullptr && node->type == type ? node : nullptr;
}

}  // namespace
}  // namespace cuda_cpu

using namespace cuda_cpu;

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph,
                                 unsigned long long flags) {
  CUDA_CPU_BEGIN_CALL();
  if (const int error = capture_rules.unsafe("cudaGraphInstantiate")) return finish(error);
  const unsigned long long ours = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                  cudaGraphInstantiateFlagUpload |
                                  cudaGraphInstantiateFlagUseNodePriority;
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) return finish(cudaErrorNotSupported);
  if (ready == nullptr || (flags & ~ours) != 0 || !is_graph(graph) || has_circle(*graph)) {
    return finish(cudaErrorInvalidValue);
  }
  auto made = std::make_unique<CUgraphExec_st>();
  copy_graph(*graph, &made->graph);
  *ready = made.release();
  handles<CUgraphExec_st>().add(*ready);
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
  if (find_stream(stream) == nullptr) return finish(cudaErrorInvalidResourceHandle);
  return cudaSuccess;  // there is no other place to bring it to
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_ready(ready)) return finish(cudaErrorInvalidValue);
  CUstream_st* const found = find_stream(stream);
  if (found == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (is_captured(stream) || found->is_default) {
    // Refused there as a capture refuses all work that is no node.
    Work refused;
    refused.label.call = "cudaGraphLaunch";
    int error = 0;
    if (capture_rules.take_work(found, &refused, &error)) return finish(error);
  }
  if (!has_its_events(ready->graph)) return finish(cudaErrorInvalidResourceHandle);
  return finish(Launch(ready).run(stream));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_ready(ready)) return finish(cudaErrorInvalidValue);
  for (CUstream_st* const row : ready->rows) destroy_stream(row);
  handles<CUgraphExec_st>().remove(ready);
  delete ready;
  return cudaSuccess;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t ready, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_ready(ready) || !is_graph(graph) || info == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  *info = compare(ready->graph, *graph);
  if (info->result != cudaGraphExecUpdateSuccess) return finish(cudaErrorGraphExecUpdateFailure);
  take_over(&ready->graph, *graph);
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
                                             const cudaKernelNodeParams* parameters, Site site) {
  CUDA_CPU_BEGIN_CALL();
  if (parameters != nullptr && parameters->func == nullptr) {
    return finish(cudaErrorInvalidDeviceFunction);
  }
  return finish(set_kernel(ready_node(ready, original, cudaGraphNodeTypeKernel), parameters,
                           original, "cudaGraphExecKernelNodeSetParams", site));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t ready, cudaGraphNode_t original,
                                               void* destination, const void* source, size_t bytes,
                                               cudaMemcpyKind kind, Site site) {
  CUDA_CPU_BEGIN_CALL();
  return finish(set_copy(ready_node(ready, original, cudaGraphNodeTypeMemcpy), destination, source,
                         bytes, kind, "cudaGraphExecMemcpyNodeSetParams1D", site));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t original,
                                             const cudaMemsetParams* parameters, Site site) {
  CUDA_CPU_BEGIN_CALL();
  return finish(set_fill(ready_node(ready, original, cudaGraphNodeTypeMemset), parameters,
                         "cudaGraphExecMemsetNodeSetParams", site));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t original,
                                           const cudaHostNodeParams* parameters) {
  CUDA_CPU_BEGIN_CALL();
  return finish(set_host(ready_node(ready, original, cudaGraphNodeTypeHost), parameters));
}
