// SPDX-License-Identifier: MIT
// FEATURE: atomics and order: `atomicAdd` of `float` and `double`
#include "program.h"

__global__ void show(float* x, double* y) {
  atomicAdd(x, 0.5f);
  atomicAdd(y, 0.25);
}

int main() {
  float* x = numbers<float>();
  double* y = numbers<double>();
  show<<<1, 32>>>(x, y);
  wait();
  return answer(*x == 16 && *y == 8);
}
