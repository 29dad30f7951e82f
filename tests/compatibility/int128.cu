// SPDX-License-Identifier: MIT
// FEATURE: numbers: `__int128`
#include "program.h"

__global__ void show(int* out) {
  const unsigned __int128 x = static_cast<unsigned __int128>(1) << 100;
  out[0] = static_cast<int>((x + threadIdx.x) >> 98);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 4);
}
