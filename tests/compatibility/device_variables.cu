// SPDX-License-Identifier: MIT
// FEATURE: memory: `__device__` variables and symbols
#include "program.h"

__device__ int factor = 3;
__global__ void show(int* out) { out[threadIdx.x] = factor * threadIdx.x; }

int main() {
  int* out = numbers();
  const int five = 5;
  MUST(cudaMemcpyToSymbol(factor, &five, sizeof(int)));
  show<<<1, 32>>>(out);
  wait();
  return answer(out[3] == 15);
}
