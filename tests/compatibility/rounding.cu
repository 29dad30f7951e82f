// SPDX-License-Identifier: MIT
// FEATURE: numbers: operations that say how they round
#include "program.h"

__global__ void show(float* out) {
  out[0] = __fadd_ru(1.0f, 1e-10f) - 1.0f;
  out[1] = __fmaf_rn(2.0f, 3.0f, 4.0f);
  out[2] = __double2float_rd(1.0 - 1e-12) - 1.0f;
}

int main() {
  float* out = numbers<float>();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] > 0 && out[1] == 10 && out[2] < 0);
}
