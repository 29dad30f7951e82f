// SPDX-License-Identifier: MIT
// FEATURE: warps: `__reduce_add_sync` and its like
#include "program.h"

__global__ void show(int* out) {
  out[threadIdx.x] = __reduce_add_sync(0xffffffff, int(threadIdx.x)) +
                     __reduce_max_sync(0xffffffff, int(threadIdx.x));
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[5] == 527);
}
