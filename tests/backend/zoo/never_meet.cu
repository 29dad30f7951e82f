// SPDX-License-Identifier: MIT
// Threads that wait for others that never come.
#include <cooperative_groups.h>

#include <cstdio>
#include <cuda/barrier>

#include "cases.cuh"

// CASE: barrier_never_completes
// A barrier expects the whole block, and only the first half of it arrives.
// RUN: CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_SCHEDULE=random:1
// EXPECT: {file}:{wait}: error: cuda::barrier waits for arrivals that never come in kernel 'half_arrives', block (0,0,0), thread (0,0,0)
// EXPECT: in this phase 32 of 64 arrivals are missing
// EXPECT: {file}:{init}: note: initialised here
// EXPECT: {file}:{wait}: note: threads 0-31 waiting here in cuda::barrier::arrive_and_wait
// EXPECT: {file}:{end}: note: threads 32-63 left the kernel here
// EXPECT: help: in each phase as many threads have to arrive as init() says
// EXPECT-STDOUT: cudaErrorLaunchFailure
__global__ void half_arrives(int* x) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);  // @init
  __syncthreads();
  if (threadIdx.x < 32) {
    x[threadIdx.x] = 1;
    barrier.arrive_and_wait();  // @wait
  }
}  // @end

CASE(barrier_never_completes) {
  std::puts(cudaGetErrorName(run_on(64, [](int* x) { half_arrives<<<1, 64>>>(x); })));
}

// CASE: large_tile_never_meets
// Of a tile of two warps only a part comes to its sync(); the other tile is complete.
// EXPECT: {file}:{sync}: error: sync() of a tile of several warps waits for threads that never come in kernel 'meet', block (0,0,0), thread (64,0,0)
// EXPECT: 14 of its 64 threads are missing
// EXPECT: {file}:{sync}: note: threads 64-113 waiting here in sync() of a tile
// EXPECT: help: every thread of the tile must come to its sync()
__global__ void meet() {
  const auto block = cooperative_groups::this_thread_block();
  const auto tile = cooperative_groups::tiled_partition<64>(block);
  if (threadIdx.x < 114) tile.sync();  // @sync
}

CASE(large_tile_never_meets) {
  meet<<<1, 128>>>();
  cudaDeviceSynchronize();
}
