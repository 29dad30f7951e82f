// SPDX-License-Identifier: MIT
// FEATURE: streams and graphs: updates of graphs
#include "program.h"

__global__ void add(int* x, int n) { *x += n; }

cudaGraph_t captured(cudaStream_t stream, int* x, int n) {
  cudaGraph_t graph;
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, n);
  MUST(cudaStreamEndCapture(stream, &graph));
  return graph;
}

int main() {
  int* x = numbers();
  cudaStream_t stream;
  cudaGraphExec_t ready;
  cudaGraphExecUpdateResultInfo info;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaGraphInstantiate(&ready, captured(stream, x, 1), 0));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaGraphExecUpdate(ready, captured(stream, x, 10), &info));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaStreamSynchronize(stream));
  return answer(*x == 11);
}
