// SPDX-License-Identifier: MIT
// FEATURE: memory: `cudaHostRegister`
#include "program.h"

__global__ void show(int* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
  int x[64] = {}, *d_x = nullptr;
  MUST(cudaHostRegister(x, sizeof(x), cudaHostRegisterMapped));
  MUST(cudaHostGetDevicePointer(&d_x, x, 0));
  show<<<1, 32>>>(d_x);
  wait();
  MUST(cudaHostUnregister(x));
  return answer(x[31] == 31);
}
