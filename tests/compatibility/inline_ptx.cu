// SPDX-License-Identifier: MIT
// FEATURE: kernels: inline PTX
#include "program.h"

__global__ void show(int* out) {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  out[threadIdx.x] = lane;
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[17] == 17);
}
