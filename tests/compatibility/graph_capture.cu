// SPDX-License-Identifier: MIT
// FEATURE: streams and graphs: graphs captured from a stream
#include "program.h"

__global__ void add(int* x, int n) { *x += n; }

int main() {
  int* x = numbers();
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, 5);
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaStreamSynchronize(stream));
  return answer(*x == 10);
}
