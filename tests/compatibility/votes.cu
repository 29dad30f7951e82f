// SPDX-License-Identifier: MIT
// FEATURE: warps: votes
#include "program.h"

__global__ void show(int* out) {
  const unsigned all = 0xffffffff;
  const int odd = threadIdx.x % 2;
  const unsigned ballot = __ballot_sync(all, odd);
  out[threadIdx.x] = __popc(ballot) + (__any_sync(all, odd) != 0) + (__all_sync(all, odd) != 0);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 17);
}
