// SPDX-License-Identifier: MIT
// FEATURE: kernels: programmatic dependent launch
#include "program.h"

__global__ void show(int* out) {
  cudaGridDependencySynchronize();
  out[threadIdx.x] = threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[31] == 31);
}
