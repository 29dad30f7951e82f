// SPDX-License-Identifier: MIT
// Kernels that never end by themselves.
#include <cstdio>

#include "cases.cuh"

// CASE: endless_loop
// The step rounds to 0.
// RUN: CUDA_CPU_TIMEOUT=0.5
// RUN: CUDA_CPU_TIMEOUT=0.5 CUDA_CPU_WORKERS=1
// EXPECT: error: no progress for 0.5 s in kernel 'endless', block (1,0,0), thread (5,0,0)
// EXPECT: note: thread 5 spinning here
// EXPECT: {file}:{end}: note: threads 0-4 left the kernel here
// EXPECT: {file}:{launch}: note: kernel launched here as <<<(2,1,1), (32,1,1)>>>
// EXPECT-STDOUT: cudaErrorLaunchTimeout
__global__ void endless(volatile int* x, int step) {
  if (blockIdx.x == 1 && threadIdx.x == 5) {
    for (int i = 0; i < 100; i += step) {
      x[5] = i;
    }
  }
}  // @end

CASE(endless_loop) {
  const auto launch = [](int* x) { endless<<<2, 32>>>(x, 0); };  // @launch
  std::puts(cudaGetErrorName(run_on(64, launch)));
}

// CASE: endless_barriers
// A halving loop that never comes to 0: (1 + 1) / 2 is 1 again. Its barrier opens for ever.
// RUN: CUDA_CPU_TIMEOUT=0.3
// RUN: CUDA_CPU_TIMEOUT=0.3 CUDA_CPU_WORKERS=1 CUDA_CPU_SCHEDULE=reverse
// EXPECT: error: barrier after barrier for 1.2 s, and no thread has ended in kernel 'halves'
// EXPECT: {file}:{halving}: note: kernel launched here as <<<(2,1,1), (64,1,1)>>>
// EXPECT: help: does the loop end for every thread
// EXPECT-STDOUT: cudaErrorLaunchTimeout
__global__ void halves(int* x) {
  for (unsigned count = blockDim.x; count > 0; count = (count + 1) / 2) {
    if (threadIdx.x < count / 2) x[threadIdx.x] += x[threadIdx.x + count / 2];
    __syncthreads();
  }
}

CASE(endless_barriers) {
  const auto launch = [](int* x) { halves<<<2, 64>>>(x); };  // @halving
  std::puts(cudaGetErrorName(run_on(64, launch)));
}

// CASE: lost_unlock
// Nobody gives the lock back: all but one thread spin for ever on the compare-and-swap.
// RUN: CUDA_CPU_TIMEOUT=0.5
// EXPECT: {file}:{spin}: error: no progress for 0.5 s in kernel 'take_lock', block (0,0,0)
// EXPECT: {file}:{spin}: note: threads 1-7 spinning here
// EXPECT: {file}:{taken}: note: thread 0 left the kernel here
__global__ void take_lock(int* lock, int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {  // @spin
  }
  *count += 1;
}  // @taken

CASE(lost_unlock) {
  run_on(2, [](int* lock) { take_lock<<<1, 8>>>(lock, lock + 1); });
}

// CASE: fault_while_others_spin
// One block faults, and another waits for ever for the result. The report must not wait for the
// watchdog.
// RUN: CUDA_CPU_WORKERS=2 CUDA_CPU_TIMEOUT=50
// RUN: CUDA_CPU_WORKERS=2 CUDA_CPU_TIMEOUT=50 CUDA_CPU_SCHEDULE=reverse
// EXPECT: {file}:{write}: error: out-of-bounds write in kernel 'hand_over', block (1,0,0), thread (0,0,0)
__global__ void hand_over(volatile int* x, int n) {
  if (blockIdx.x == 0) {
    while (x[0] != 1) {
    }
  } else {
    x[n] = 1;  // @write
    x[0] = 1;
  }
}

CASE(fault_while_others_spin) {
  run_on(1024, [](int* x) { hand_over<<<2, 1>>>(x, 1024); });
}
