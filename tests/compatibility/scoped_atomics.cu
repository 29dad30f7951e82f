// SPDX-License-Identifier: MIT
// FEATURE: atomics and order: atomics with a scope: `atomicAdd_block`, `atomicAdd_system`
#include "program.h"

__global__ void show(int* out) {
  atomicAdd_block(out + blockIdx.x, 1);
  atomicAdd_system(out + 2, 1);
}

int main() {
  int* out = numbers();
  show<<<2, 32>>>(out);
  wait();
  return answer(out[0] == 32 && out[1] == 32 && out[2] == 64);
}
