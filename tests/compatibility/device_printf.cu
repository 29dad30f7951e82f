// SPDX-License-Identifier: MIT
// FEATURE: kernels: `printf` in device code
#include "program.h"

__global__ void show(int* out) {
  if (threadIdx.x == 3) out[0] = printf("%d %.1f %s\n", 3, 1.5, "three");
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 3);
}
