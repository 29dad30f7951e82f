// SPDX-License-Identifier: MIT
// A list in managed memory, with names on the host that kernels leave alone: the kernel follows the
// list, the host follows both.
// EXPECT-STDOUT: one 2 three 4
#include <cstdio>

#include "../../../common/check.cuh"

struct Node {
  int value;
  const char* name;  // the host's
  Node* next;
};

__global__ void add_one(Node* node) {
  for (; node != nullptr; node = node->next) ++node->value;
}

int main() {
  char first[] = "one", second[] = "three";
  Node* nodes;
  CUDA_CHECK(cudaMallocManaged(&nodes, 2 * sizeof(Node)));
  nodes[0] = {1, first, nodes + 1};
  nodes[1] = {3, second, nullptr};
  add_one<<<1, 1>>>(nodes);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  for (const Node* n = nodes; n != nullptr; n = n->next) {
    std::printf("%s %d%s", n->name, n->value, n->next != nullptr ? " " : "\n");
  }
  CUDA_CHECK(cudaFree(nodes));
}
