// SPDX-License-Identifier: MIT
// FEATURE: kernels: templates of kernels
#include "program.h"

template <class T, int kFactor>
__global__ void show(T* out) {
  out[threadIdx.x] = kFactor * threadIdx.x;
}

int main() {
  int* out = numbers();
  show<int, 3><<<1, 32>>>(out);
  wait();
  return answer(out[31] == 93);
}
