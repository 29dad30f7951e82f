// SPDX-License-Identifier: MIT
// FEATURE: memory: shared memory, of fixed and of dynamic size
#include "program.h"

extern __shared__ int dynamic[];
__global__ void show(int* out) {
  __shared__ int fixed[32];
  fixed[threadIdx.x] = threadIdx.x;
  dynamic[threadIdx.x] = 100;
  __syncthreads();
  out[threadIdx.x] = fixed[31 - threadIdx.x] + dynamic[31 - threadIdx.x];
}

int main() {
  int* out = numbers();
  show<<<1, 32, 32 * sizeof(int)>>>(out);
  wait();
  return answer(out[0] == 131);
}
