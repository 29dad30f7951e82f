// SPDX-License-Identifier: MIT
// FEATURE: numbers: SIMD within a word: `__vadd4` and its like
#include "program.h"

__global__ void show(int* out) {
  out[0] = __vadd4(0x01020304, 0x01010101);
  out[1] = __vabsdiffu4(0x05050505, 0x02020202);
}

int main() {
  int* out = numbers();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] == 0x02030405 && out[1] == 0x03030303);
}
