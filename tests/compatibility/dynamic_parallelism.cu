// SPDX-License-Identifier: MIT
// FEATURE: kernels: kernels that launch kernels
// NVCC: -rdc=true -lcudadevrt
#include "program.h"

__global__ void child(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
__global__ void show(int* out) {
  if (threadIdx.x == 0) child<<<1, 32>>>(out);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[31] == 32);
}
