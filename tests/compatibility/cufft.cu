// SPDX-License-Identifier: MIT
// FEATURE: libraries: cuFFT
// NVCC: -lcufft
#include <cufft.h>

#include "program.h"

int main() {
  cufftComplex* x = numbers<cufftComplex>();
  x[0].x = 1;
  cufftHandle plan;
  MUST(cufftPlan1d(&plan, 64, CUFFT_C2C, 1));
  MUST(cufftExecC2C(plan, x, x, CUFFT_FORWARD));
  wait();
  return answer(x[5].x == 1 && x[5].y == 0);
}
