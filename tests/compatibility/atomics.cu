// SPDX-License-Identifier: MIT
// FEATURE: atomics and order: atomics on integers
#include "program.h"

__global__ void show(int* out) {
  atomicAdd(out, 1);
  atomicMax(out + 1, int(threadIdx.x));
  atomicOr(out + 2, 1 << threadIdx.x % 8);
  atomicExch(out + 3, 5);
  atomicCAS(out + 4, 0, 6);
  atomicInc(reinterpret_cast<unsigned*>(out + 5), 9);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 32 && out[1] == 31 && out[2] == 255 && out[3] == 5 && out[4] == 6 &&
                out[5] == 2);
}
