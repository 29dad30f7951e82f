// SPDX-License-Identifier: MIT
// FEATURE: libraries: CUB within a block
#include <cub/block/block_reduce.cuh>

#include "program.h"

__global__ void show(int* out) {
  using Reduce = cub::BlockReduce<int, 64>;
  __shared__ typename Reduce::TempStorage storage;
  const int sum = Reduce(storage).Sum(int(threadIdx.x));
  if (threadIdx.x == 0) out[0] = sum;
}

int main() {
  int* out = numbers();
  show<<<1, 64>>>(out);
  wait();
  return answer(out[0] == 2016);
}
