// SPDX-License-Identifier: MIT
// FEATURE: atomics and order: `atomicAdd` of `__half2` and `__nv_bfloat16`
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "program.h"

__global__ void show(__half2* x, __nv_bfloat16* y) {
  atomicAdd(x, __floats2half2_rn(1, 2));
  atomicAdd(y, __float2bfloat16(1));
}

int main() {
  __half2* x = reinterpret_cast<__half2*>(numbers());
  __nv_bfloat16* y = reinterpret_cast<__nv_bfloat16*>(numbers());
  show<<<1, 32>>>(x, y);
  wait();
  return answer(__low2float(*x) == 32 && __high2float(*x) == 64 && __bfloat162float(*y) == 32);
}
