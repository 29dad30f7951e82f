// SPDX-License-Identifier: MIT
// FEATURE: kernels: `assert` in device code ends the kernel
#include <cassert>

#include "program.h"

__global__ void show(int x) { assert(x == 1); }

int main() {
  show<<<1, 1>>>(1);
  wait();
  show<<<1, 1>>>(2);
  const cudaError_t code = cudaDeviceSynchronize();
  std::_Exit(answer(code == cudaErrorAssert));
}
