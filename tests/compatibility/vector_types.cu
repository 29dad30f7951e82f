// SPDX-License-Identifier: MIT
// FEATURE: numbers: vector types
#include "program.h"

__global__ void show(float4* out) {
  const float4 x = make_float4(1, 2, 3, 4);
  const int2 y = make_int2(5, 6);
  out[0] = make_float4(x.x, x.w, float(y.x), float(y.y));
}

int main() {
  float4* out = numbers<float4>();
  show<<<1, 1>>>(out);
  wait();
  return answer(out->y == 4 && out->w == 6);
}
