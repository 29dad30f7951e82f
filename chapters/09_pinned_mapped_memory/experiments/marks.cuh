// SPDX-License-Identifier: MIT
// Chapter 09: events between the work of streams, by which experiments see when each piece ran.
#pragma once

#include "../../../common/common.cuh"

// An event in a stream: it is reached when all work put there before it has ended.
inline cudaEvent_t mark(cudaStream_t stream) {
  cudaEvent_t event = nullptr;
  CUDA_CHECK(cudaEventCreate(&event));
  CUDA_CHECK(cudaEventRecord(event, stream));
  return event;
}

// Waits for the marks. Returns when each was reached, in ms since the earliest. That need not be
// the first: a non-blocking stream does not wait for the default stream.
inline std::vector<double> when_reached(const std::vector<cudaEvent_t>& marks) {
  CUDA_CHECK(cudaDeviceSynchronize());
  std::vector<double> reached;
  for (cudaEvent_t event : marks) {
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, marks[0], event));
    reached.push_back(ms);
  }
  for (cudaEvent_t event : marks) CUDA_CHECK(cudaEventDestroy(event));
  const double earliest = *std::min_element(reached.begin(), reached.end());
  for (double& ms : reached) ms -= earliest;
  return reached;
}
