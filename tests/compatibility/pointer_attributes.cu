// SPDX-License-Identifier: MIT
// FEATURE: memory: `cudaPointerGetAttributes`
#include "program.h"

int main() {
  int* x = nullptr;
  cudaPointerAttributes attributes{};
  MUST(cudaMalloc(&x, 4));
  MUST(cudaPointerGetAttributes(&attributes, x));
  return answer(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
}
