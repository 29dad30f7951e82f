// SPDX-License-Identifier: MIT
// FEATURE: kernels: `__launch_bounds__`
#include "program.h"

__global__ void __launch_bounds__(128, 2) show(int* out) { out[threadIdx.x] = threadIdx.x; }

int main() {
  int* out = numbers();
  show<<<1, 128>>>(out);
  wait();
  return answer(out[127] == 127);
}
