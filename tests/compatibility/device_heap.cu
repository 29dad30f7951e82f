// SPDX-License-Identifier: MIT
// FEATURE: kernels: `malloc`, `new` and `delete` in device code
#include "program.h"

__global__ void show(int* out) {
  int* const one = new int(threadIdx.x);
  int* const two = static_cast<int*>(malloc(4 * sizeof(int)));
  two[3] = *one + 1;
  out[threadIdx.x] = two[3];
  delete one;
  free(two);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[8] == 9);
}
