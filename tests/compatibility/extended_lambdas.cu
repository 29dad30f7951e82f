// SPDX-License-Identifier: MIT
// FEATURE: kernels: `__device__` lambdas as arguments
// NVCC: --extended-lambda
#include "program.h"

template <class F>
__global__ void show(int* out, F f) {
  out[threadIdx.x] = f(threadIdx.x);
}

int main() {
  int* out = numbers();
  const int offset = 7;
  show<<<1, 32>>>(out, [offset] __device__(int i) { return i + offset; });
  wait();
  return answer(out[31] == 38);
}
