// SPDX-License-Identifier: MIT
// FEATURE: numbers: `<cuComplex.h>`
#include <cuComplex.h>

#include "program.h"

__global__ void show(float* out) {
  const cuFloatComplex x = cuCmulf(make_cuFloatComplex(1, 2), make_cuFloatComplex(3, 4));
  out[0] = cuCrealf(x);
  out[1] = cuCimagf(x);
}

int main() {
  float* out = numbers<float>();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] == -5 && out[1] == 10);
}
