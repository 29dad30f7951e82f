// SPDX-License-Identifier: MIT
// FEATURE: kernels: `__restrict__` and `__ldg`
#include "program.h"

__global__ void show(int* __restrict__ out) {
  const int* const in = out + 32;
  out[threadIdx.x] = __ldg(in + threadIdx.x) + 1;
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[9] == 1);
}
