// SPDX-License-Identifier: MIT
// FEATURE: asynchronous copies: `cuda::barrier`
#include <cuda/barrier>
#include <utility>

#include "program.h"

__global__ void show(int* out) {
  __shared__ int x[32];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  x[threadIdx.x] = threadIdx.x;
  auto token = bar.arrive();
  bar.wait(std::move(token));
  out[threadIdx.x] = x[31 - threadIdx.x];
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 31);
}
