// SPDX-License-Identifier: MIT
// FEATURE: kernels: `clock64`, `__nanosleep`, `%globaltimer`
#include "program.h"

__global__ void show(int* out) {
  const long long begin = clock64();
  __nanosleep(1000);
  out[threadIdx.x] = clock64() > begin && clock() != 0;
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 1);
}
