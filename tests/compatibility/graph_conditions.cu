// SPDX-License-Identifier: MIT
// FEATURE: streams and graphs: conditional nodes of graphs
#include "program.h"

__global__ void add(int* x, int n) { *x += n; }

int main() {
  cudaGraph_t graph;
  cudaGraphConditionalHandle handle;
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNode_t node;
  cudaGraphNodeParams condition{};
  condition.type = cudaGraphNodeTypeConditional;
  condition.conditional.handle = handle;
  condition.conditional.type = cudaGraphCondTypeIf;
  condition.conditional.size = 1;
  MUST(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &condition));
  cudaGraphExec_t ready;
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  MUST(cudaGraphLaunch(ready, nullptr));
  wait();
  return answer(true);
}
