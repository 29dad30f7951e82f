// SPDX-License-Identifier: MIT
// Races at objects of libcu++.
// BUILD: cpu-xray
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>

#include "cases.cuh"

// CASE: barrier_initialised_beside_its_use
// One thread initialises a barrier, and the others use it without having waited for that. In this
// order of threads it goes well.
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=forward
// EXPECT: {file}:{use}: error: race: a read in kernel 'start', block (0,0,0), thread (
// EXPECT: of element 0 of the __shared__ array 'barrier'
// EXPECT: {file}:{init}: note: a write by thread (0,0,0); nothing orders the two
// EXPECT-STDOUT: cudaSuccess
__global__ void start() {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);  // @init
  barrier.arrive_and_wait();                         // @use
}

CASE(barrier_initialised_beside_its_use) {
  start<<<1, 64>>>();
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
}

// CASE: flag_relaxed
// A flag that is a cuda::atomic: with release and acquire it hands over what was written before,
// relaxed it hands over nothing but itself.
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// EXPECT: {file}:{relaxed}: error: race: a read in kernel 'hand_over<true>'
// EXPECT: {file}:{write}: note: a write by
// EXPECT-NOT: hand_over<false>
__device__ cuda::atomic<int, cuda::thread_scope_device> flags[2];

template <bool kRelaxed>
__global__ void hand_over(int* data) {
  auto& flag = flags[kRelaxed];
  if (blockIdx.x == 0) {
    data[0] = 42;  // @write
    flag.store(1, kRelaxed ? cuda::memory_order_relaxed : cuda::memory_order_release);
  } else {
    flag.wait(0, kRelaxed ? cuda::memory_order_relaxed : cuda::memory_order_acquire);
    data[1] = data[0];  // @relaxed
  }
}

CASE(flag_relaxed) {
  run_on(2, [](int* data) {
    hand_over<false><<<2, 1>>>(data);
    hand_over<true><<<2, 1>>>(data);
  });
}
