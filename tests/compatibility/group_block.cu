// SPDX-License-Identifier: MIT
// FEATURE: cooperative groups: `this_thread_block`
#include <cooperative_groups.h>

#include "program.h"

namespace cg = cooperative_groups;

__global__ void show(int* out) {
  __shared__ int x[64];
  const cg::thread_block block = cg::this_thread_block();
  x[block.thread_rank()] = block.thread_rank();
  block.sync();
  out[block.thread_rank()] = x[block.size() - 1 - block.thread_rank()];
}

int main() {
  int* out = numbers();
  show<<<1, 64>>>(out);
  wait();
  return answer(out[0] == 63);
}
