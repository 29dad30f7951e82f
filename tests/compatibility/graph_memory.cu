// SPDX-License-Identifier: MIT
// FEATURE: streams and graphs: allocations within graphs
#include "program.h"

__global__ void add(int* x, int n) { *x += n; }

int main() {
  int *x = numbers(), *y = nullptr;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  MUST(cudaMallocAsync(&y, 4, stream));
  MUST(cudaMemsetAsync(y, 0, 4, stream));
  add<<<1, 1, 0, stream>>>(y, 3);
  MUST(cudaMemcpyAsync(x, y, 4, cudaMemcpyDefault, stream));
  MUST(cudaFreeAsync(y, stream));
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaStreamSynchronize(stream));
  return answer(*x == 3);
}
