// SPDX-License-Identifier: MIT
// FEATURE: libraries: cuRAND, called by the host
// NVCC: -lcurand
#include <curand.h>

#include "program.h"

int main() {
  float* x = numbers<float>();
  curandGenerator_t generator;
  MUST(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
  MUST(curandSetPseudoRandomGeneratorSeed(generator, 1));
  MUST(curandGenerateUniform(generator, x, 1024));
  wait();
  return answer(x[0] > 0 && x[0] <= 1 && x[0] != x[1]);
}
