// SPDX-License-Identifier: MIT
// FEATURE: kernels: kernels with any number of arguments
#include "program.h"

template <class... T>
__global__ void show(int* out, T... x) {
  out[threadIdx.x] = (x + ... + 0);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out, 1, 2L, short{3});
  wait();
  return answer(out[31] == 6);
}
