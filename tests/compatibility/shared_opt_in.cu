// SPDX-License-Identifier: MIT
// FEATURE: memory: more than 48 KiB of shared memory
#include "program.h"

extern __shared__ int dynamic[];
__global__ void show(int* out) {
  dynamic[16384 + threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = dynamic[16384 + threadIdx.x];
}

int main() {
  int* out = numbers();
  MUST(cudaFuncSetAttribute(show, cudaFuncAttributeMaxDynamicSharedMemorySize, 96 * 1024));
  show<<<1, 32, 96 * 1024>>>(out);
  wait();
  return answer(out[31] == 31);
}
