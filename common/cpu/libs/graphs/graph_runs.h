// SPDX-License-Identifier: MIT
// Graphs that are ready to run: what a graph was when it was instantiated, updated or not since.
#pragma once

#include <cstddef>

#include "../../types/site.h"
#include "types.h"

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph,
                                 unsigned long long flags = 0);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* ready, cudaGraph_t graph,
                                          unsigned long long flags = 0);
/// As CUDA 11 has it.
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph,
                                 cudaGraphNode_t* error_node, char* log, size_t log_bytes);
cudaError_t cudaGraphUpload(cudaGraphExec_t ready, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready);

/// Takes all parameters from a graph that has the same nodes, added in the same order, and the same
/// edges.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t ready, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info);
/// As CUDA 11 has it.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t ready, cudaGraph_t graph,
                                cudaGraphNode_t* error_node, cudaGraphExecUpdateResult* result);

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters, CUDA_CPU_SITE);
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t ready, cudaGraphNode_t node,
                                               void* destination, const void* source, size_t bytes,
                                               cudaMemcpyKind kind, CUDA_CPU_SITE);
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters, CUDA_CPU_SITE);
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters);
