// SPDX-License-Identifier: MIT
// FEATURE: libraries: cuRAND in device code
#include <curand_kernel.h>

#include "program.h"

__global__ void show(float* out) {
  curandStatePhilox4_32_10_t state;
  curand_init(1, threadIdx.x, 0, &state);
  out[threadIdx.x] = curand_uniform(&state);
}

int main() {
  float* out = numbers<float>();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] > 0 && out[0] <= 1 && out[0] != out[1]);
}
