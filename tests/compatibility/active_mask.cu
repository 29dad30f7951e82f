// SPDX-License-Identifier: MIT
// FEATURE: warps: `__activemask`, `__syncwarp`
#include "program.h"

__global__ void show(int* out) {
  __shared__ int x[32];
  x[threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = x[31 - threadIdx.x] + ((__activemask() >> threadIdx.x & 1) != 0);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 32);
}
