// SPDX-License-Identifier: MIT
// No bug: every block polls, with barriers or warp votes in the loop, for the block before it. All
// blocks fit on one multiprocessor, so they are promised to get on.
// RUN: CUDA_CPU_WORKERS=1 CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_WORKERS=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_WORKERS=2 CUDA_CPU_SCHEDULE=random:1
// EXPECT-STDOUT: 8 8
#include <cstdio>

__device__ int by_barrier[9], by_vote[9];

__global__ void relay() {
  const int b = blockIdx.x;
  if (b == 0 && threadIdx.x == 0) by_barrier[0] = by_vote[0] = 1;
  int value = 0;
  while (__syncthreads_or(value != 0) == 0) {
    if (threadIdx.x == 0) value = atomicAdd(&by_barrier[b], 0);
  }
  if (threadIdx.x == 0) atomicAdd(&by_barrier[b + 1], value + (b < 7 ? 1 : 0));
  value = 0;
  while (__any_sync(0xffffffffu, value != 0) == 0) {
    value = atomicAdd(&by_vote[b], 0);
  }
  value = atomicAdd(&by_vote[b], 0);  // the lane that saw it first may have been another one
  if (threadIdx.x == 0) atomicAdd(&by_vote[b + 1], value + (b < 7 ? 1 : 0));
}

int main() {
  relay<<<8, 64>>>();
  int barrier[9] = {}, vote[9] = {};
  cudaMemcpyFromSymbol(barrier, by_barrier, sizeof(barrier));
  cudaMemcpyFromSymbol(vote, by_vote, sizeof(vote));
  std::printf("%d %d\n", barrier[8], vote[8]);
  return 0;
}
