// SPDX-License-Identifier: MIT
// FEATURE: kernels: `__grid_constant__` parameters
#include "program.h"

struct Many {
  int x[64];
};

__global__ void show(int* out, const __grid_constant__ Many many) {
  const int* const x = many.x;
  out[threadIdx.x] = x[threadIdx.x];
}

int main() {
  int* out = numbers();
  Many many{};
  many.x[5] = 6;
  show<<<1, 32>>>(out, many);
  wait();
  return answer(out[5] == 6);
}
