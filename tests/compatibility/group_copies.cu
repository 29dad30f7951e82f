// SPDX-License-Identifier: MIT
// FEATURE: cooperative groups: `cg::memcpy_async`
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include "program.h"

namespace cg = cooperative_groups;

__global__ void show(int* out) {
  __shared__ int x[32];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, x, out + 32, sizeof(x));
  cg::wait(block);
  out[threadIdx.x] = x[31 - threadIdx.x] + 1;
}

int main() {
  int* out = numbers();
  for (int i = 0; i < 64; ++i) out[i] = i;
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 64);
}
