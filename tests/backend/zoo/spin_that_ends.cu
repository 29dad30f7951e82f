// SPDX-License-Identifier: MIT
// No bug: a lock within a block, a flag that a later block raises, and a wait for the block before.
// All of it spins, and all of it must come to an end under every schedule.
// RUN: CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_SCHEDULE=random:3
// RUN: CUDA_CPU_SCHEDULE=forward CUDA_CPU_WORKERS=1
// RUN: CUDA_CPU_SCHEDULE=reverse CUDA_CPU_WORKERS=1
// EXPECT-STATUS: 0
// EXPECT-STDOUT: 512 counted, last of chain 8
// EXPECT-NOT: error
#include <cstdio>

__device__ int lock, count, flag, chain[9];

__global__ void spin_in_all_ways() {
  // Every thread takes the lock once.
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  __threadfence();  // count is not read before the lock was taken
  count += 1;
  __threadfence();
  atomicExch(&lock, 0);

  // The first block waits for the last.
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) atomicExch(&flag, 1);
  if (blockIdx.x == 0) {
    while (atomicAdd(&flag, 0) == 0) {
    }
  }

  // Each block waits for the one before it.
  if (threadIdx.x == 0) {
    int before = 0;
    while (blockIdx.x > 0 && (before = atomicAdd(&chain[blockIdx.x], 0)) == 0) {
    }
    atomicExch(&chain[blockIdx.x + 1], before + 1);
  }
}

int main() {
  spin_in_all_ways<<<8, 64>>>();
  int counted = 0, last[9] = {};
  if (cudaMemcpyFromSymbol(&counted, count, sizeof(counted)) != cudaSuccess) return 2;
  if (cudaMemcpyFromSymbol(last, chain, sizeof(last)) != cudaSuccess) return 2;
  std::printf("%d counted, last of chain %d\n", counted, last[8]);
  return 0;
}
