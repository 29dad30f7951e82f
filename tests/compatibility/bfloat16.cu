// SPDX-License-Identifier: MIT
// FEATURE: numbers: `__nv_bfloat16`
#include <cuda_bf16.h>

#include "program.h"

__global__ void show(float* out) {
  const __nv_bfloat16 x = __float2bfloat16(1.5f);
  out[0] = __bfloat162float(__hadd(x, x)) + float(x * x);
}

int main() {
  float* out = numbers<float>();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] == 5.25f);
}
