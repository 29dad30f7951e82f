// SPDX-License-Identifier: MIT
// FEATURE: kernels: recursion in device code
#include "program.h"

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void show(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[11] == 89);
}
