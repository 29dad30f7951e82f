// SPDX-License-Identifier: MIT
// FEATURE: kernels: pointers to device functions
#include "program.h"

__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }
__device__ int (*const functions[])(int) = {twice, square};
__global__ void show(int* out) { out[threadIdx.x] = functions[threadIdx.x % 2](threadIdx.x); }

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[4] == 8 && out[5] == 25);
}
