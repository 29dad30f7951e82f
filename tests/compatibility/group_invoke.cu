// SPDX-License-Identifier: MIT
// FEATURE: cooperative groups: `cg::invoke_one`
#include <cooperative_groups.h>

#include "program.h"

namespace cg = cooperative_groups;

__global__ void show(int* out) {
  cg::invoke_one(cg::this_thread_block(), [&] { atomicAdd(out, 1); });
}

int main() {
  int* out = numbers();
  show<<<1, 31>>>(out);
  wait();
  return answer(out[0] == 1);
}
