// SPDX-License-Identifier: MIT
// Graphs: nodes, and which of them wait for which. Nodes without a path from one to the other may
// run in any order.
#pragma once

#include <cstddef>

#include "../../runtime/copies.h"
#include "../../runtime/launch_calls.h"
#include "../textures/arrays.h"
#include "types.h"

namespace cuda_cpu {

struct NodeContents;

CUgraph_st* create_graph();
/// Whether a program may name it: it is there, and no copy within a graph that is ready to run.
bool is_graph(const CUgraph_st* graph);
bool is_node(const CUgraphNode_st* node);

/// Adds a node, after others of the same graph.
CUgraphNode_st* add_node(CUgraph_st* graph, NodeContents contents, const cudaGraphNode_t* after,
                         std::size_t count);

/// Copies nodes and edges into an empty graph; each copy names its original.
void copy_graph(const CUgraph_st& from, CUgraph_st* to);

/// These say what a node does. Each returns an error code, and changes nothing if that is not 0.
/// nullptr, for a node that is not there or of another type, is an invalid value.
/// `asked`: the node that the program may have asked for its arguments, or nullptr.
int set_kernel(NodeContents* node, const cudaKernelNodeParams* parameters,
               const CUgraphNode_st* asked, const char* call, Site site);
int set_copy(NodeContents* node, void* destination, const void* source, std::size_t bytes,
             cudaMemcpyKind kind, const char* call, Site site);
int set_fill(NodeContents* node, const cudaMemsetParams* parameters, const char* call, Site site);
int set_host(NodeContents* node, const cudaHostNodeParams* parameters);
int set_event(NodeContents* node, CUevent_st* event);

/// Ends every graph (cudaDeviceReset).
void forget_graphs();

}  // namespace cuda_cpu

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph);
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t clone);

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* parameters, CUDA_CPU_SITE);
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* parameters, CUDA_CPU_SITE);
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count, void* destination,
                                     const void* source, size_t bytes, cudaMemcpyKind kind,
                                     CUDA_CPU_SITE);
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters, CUDA_CPU_SITE);
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters);
/// Nodes that record an event, or wait for one: so a graph can wait for work outside of it, and
/// other work can wait for a part of the graph. What a node waits for is the latest record when the
/// graph is launched.
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, size_t count,
                                        cudaEvent_t event);
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* after, size_t count,
                                      cudaEvent_t event);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, size_t count,
                                       cudaGraph_t child);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count);

/// The arguments are not given back: kernelParams stands for those that the node has, until it is
/// set to others.
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters);
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters, CUDA_CPU_SITE);
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph);

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                     size_t count);
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                        size_t count);
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edges, size_t* count);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                         cudaGraphEdgeData* edges, size_t* count);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                           cudaGraphEdgeData* edges, size_t* count);
/// Writes the graph for Graphviz.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int flags);
