// SPDX-License-Identifier: MIT
// FEATURE: atomics and order: `__syncthreads_count`, `_and`, `_or`
#include "program.h"

__global__ void show(int* out) {
  const int t = threadIdx.x;
  const int count = __syncthreads_count(t < 40), all = __syncthreads_and(t < 64),
            any = __syncthreads_or(t == 70);
  if (t == 0) out[0] = count + (all != 0) + (any != 0);
}

int main() {
  int* out = numbers();
  show<<<1, 64>>>(out);
  wait();
  return answer(out[0] == 41);
}
