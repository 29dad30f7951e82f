// SPDX-License-Identifier: MIT
// FEATURE: memory: copies between devices, by `cudaMemcpyPeer`
#include "program.h"

int main() {
  int *a = nullptr, *b = nullptr, x = 7, y = 0;
  MUST(cudaMalloc(&a, 4));
  MUST(cudaMalloc(&b, 4));
  MUST(cudaMemcpy(a, &x, 4, cudaMemcpyHostToDevice));
  MUST(cudaMemcpyPeer(b, 0, a, 0, 4));
  MUST(cudaMemcpy(&y, b, 4, cudaMemcpyDeviceToHost));
  return answer(y == 7);
}
