// SPDX-License-Identifier: MIT
// FEATURE: numbers: 8-bit floats
#include <cuda_fp8.h>

#include "program.h"

__global__ void show(float* out) {
  out[0] = float(__nv_fp8_e4m3(1.75f)) + float(__nv_fp8_e5m2(4.0f));
}

int main() {
  float* out = numbers<float>();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] == 5.75f);
}
