// SPDX-License-Identifier: MIT
// FEATURE: numbers: `__half` and `__half2`
#include <cuda_fp16.h>

#include "program.h"

__global__ void show(float* out) {
  const __half2 x = __hfma2(__floats2half2_rn(1, 2), __float2half2_rn(3), __float2half2_rn(0.5f));
  out[0] = __low2float(x) + __half2float(hsqrt(__float2half(16)));
  out[1] = __high2float(x);
}

int main() {
  float* out = numbers<float>();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] == 7.5f && out[1] == 6.5f);
}
