// SPDX-License-Identifier: MIT
// FEATURE: numbers: mathematical functions
#include "program.h"

__global__ void show(double* out) {
  out[0] = rsqrt(4.0) + norm3d(2.0, 3.0, 6.0) + erf(0.0) + cospi(1.0);
  out[1] = __fdividef(6.0f, 2.0f) + __expf(0.0f) + __saturatef(3.0f);
}

int main() {
  double* out = numbers<double>();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] > 6.4999 && out[0] < 6.5001 && out[1] > 4.999 && out[1] < 5.001);
}
