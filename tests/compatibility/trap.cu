// SPDX-License-Identifier: MIT
// FEATURE: kernels: `__trap` ends the kernel
#include "program.h"

__global__ void show(int x) {
  if (x == 2) __trap();
}

int main() {
  show<<<1, 1>>>(1);
  wait();
  show<<<1, 1>>>(2);
  const cudaError_t code = cudaDeviceSynchronize();
  std::_Exit(answer(code != cudaSuccess));
}
