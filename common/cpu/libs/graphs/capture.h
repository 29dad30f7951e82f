// SPDX-License-Identifier: MIT
// The capture of streams: what would be put on a stream becomes nodes of a graph. Which calls spoil
// a capture, and the codes that they return, are an H200's (tests/backend/h200_graph_calls.csv).
#pragma once

#include "../../types/site.h"
#include "types.h"

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode, CUDA_CPU_SITE);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id = nullptr, cudaGraph_t* graph = nullptr,
                                     const cudaGraphNode_t** dependencies = nullptr,
                                     const cudaGraphEdgeData** edges = nullptr,
                                     size_t* count = nullptr);
