// SPDX-License-Identifier: MIT
// FEATURE: numbers: functions on integers
#include "program.h"

__global__ void show(int* out) {
  out[0] = __popc(255) + __clz(1) + __ffs(8) + __brev(1u << 31);
  out[1] = __dp4a(0x01010101, 0x02020202, 1);
  out[2] = __byte_perm(0x11223344, 0, 0x0123);
  out[3] = __umulhi(1u << 31, 4) + __funnelshift_l(1u << 31, 0, 1);
}

int main() {
  int* out = numbers();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] == 44 && out[1] == 9 && out[2] == 0x44332211 && out[3] == 3);
}
