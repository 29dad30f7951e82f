// SPDX-License-Identifier: MIT
// FEATURE: memory: pinned and mapped host memory
#include "program.h"

__global__ void show(int* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
  int *x = nullptr, *d_x = nullptr;
  MUST(cudaHostAlloc(&x, 32 * sizeof(int), cudaHostAllocMapped));
  MUST(cudaHostGetDevicePointer(&d_x, x, 0));
  show<<<1, 32>>>(d_x);
  wait();
  return answer(x[31] == 31);
}
