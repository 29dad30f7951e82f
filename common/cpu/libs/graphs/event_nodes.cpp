// SPDX-License-Identifier: MIT
#include "event_nodes.h"

#include "../../runtime/call.h"
#include "../../runtime/events.h"
#include "graph.h"
#include "graph_runs.h"
#include "graphs.h"

namespace cuda_cpu {
namespace {

cudaError_t add_event_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                           std::size_t count, cudaGraphNodeType type, CUevent_st* event) {
  if (node == nullptr || !are_dependencies(graph, after, nullptr, count)) {
    return finish(cudaErrorInvalidValue);
  }
  if (!is_event(event)) return finish(cudaErrorInvalidResourceHandle);
  *node = add_node(graph, type, Work{}, after, count);
  (*node)->event = event;
  return cudaSuccess;
}

cudaError_t get_event(const CUgraphNode_st* node, cudaGraphNodeType type, cudaEvent_t* event) {
  if (event == nullptr || !is_node(node) || node->type != type) {
    return finish(cudaErrorInvalidValue);
  }
  *event = node->event;
  return cudaSuccess;
}

cudaError_t set_event(CUgraphNode_st* node, cudaGraphNodeType type, CUevent_st* event) {
  if (node == nullptr || node->type != type) return finish(cudaErrorInvalidValue);
  if (!is_event(event)) return finish(cudaErrorInvalidResourceHandle);
  node->event = event;
  return cudaSuccess;
}

CUgraphNode_st* known(CUgraphNode_st* node) { return is_node(node) ? node : nullptr; }

}  // namespace
}  // namespace cuda_cpu

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, size_t count,
                                        cudaEvent_t event) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::add_event_node(node, graph, after, count, cudaGraphNodeTypeEventRecord, event);
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* after, size_t count,
                                      cudaEvent_t event) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::add_event_node(node, graph, after, count, cudaGraphNodeTypeWaitEvent, event);
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::get_event(node, cudaGraphNodeTypeEventRecord, event);
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::set_event(cuda_cpu::known(node), cudaGraphNodeTypeEventRecord, event);
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::get_event(node, cudaGraphNodeTypeWaitEvent, event);
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::set_event(cuda_cpu::known(node), cudaGraphNodeTypeWaitEvent, event);
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t ready, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::set_event(cuda_cpu::ready_node(ready, node, cudaGraphNodeTypeEventRecord),
                             cudaGraphNodeTypeEventRecord, event);
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t ready, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  CUDA_CPU_BEGIN_CALL();
  return cuda_cpu::set_event(cuda_cpu::ready_node(ready, node, cudaGraphNodeTypeWaitEvent),
                             cudaGraphNodeTypeWaitEvent, event);
}
