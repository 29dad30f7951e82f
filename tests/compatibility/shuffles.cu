// SPDX-License-Identifier: MIT
// FEATURE: warps: shuffles
#include "program.h"

__global__ void show(int* out) {
  int x = threadIdx.x;
  for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffff, x, step);
  out[threadIdx.x] = __shfl_sync(0xffffffff, x, 0) + __shfl_xor_sync(0xffffffff, 1, 1);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[31] == 497);
}
