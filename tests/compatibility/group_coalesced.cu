// SPDX-License-Identifier: MIT
// FEATURE: cooperative groups: `coalesced_threads`
#include <cooperative_groups.h>

#include "program.h"

namespace cg = cooperative_groups;

__global__ void show(int* out) {
  if (threadIdx.x % 4 == 1) {
    const cg::coalesced_group active = cg::coalesced_threads();
    out[threadIdx.x] = active.size() * 100 + active.thread_rank();
  }
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[5] % 100 == (out[5] / 100 == 8 ? 1 : 0));
}
