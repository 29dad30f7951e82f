// SPDX-License-Identifier: MIT
// FEATURE: warps: `__match_any_sync`, `__match_all_sync`
#include "program.h"

__global__ void show(int* out) {
  int same;
  __match_all_sync(0xffffffff, 7, &same);
  out[threadIdx.x] = __popc(__match_any_sync(0xffffffff, threadIdx.x / 4)) + same;
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[9] == 5);
}
