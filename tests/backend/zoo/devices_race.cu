// SPDX-License-Identifier: MIT
// Two devices use one array and nothing orders them, and the right twin.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_DEVICES=2
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_DEVICES=2 CUDA_CPU_SCHEDULE=reverse
//
// CASE: race
// EXPECT: error: race: a
// EXPECT: nothing orders the two
//
// CASE: scope_of_a_block
// EXPECT: {file}:{of_block}: error: race: an atomic for one block only in kernel 'count_in_block'
// EXPECT: nothing orders the two
//
// CASE: scope_of_the_system
// EXPECT-STDOUT: 64
//
// CASE: ordered
// By an event; and each device writes a variable of its own at the same time.
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_DEVICES=2 CUDA_CPU_SCHEDULE=random:3
// EXPECT-STDOUT: 3 0 1

#include <cuda_runtime.h>

#include <cstdio>

#include "../../../common/check.cuh"
#include "cases.cuh"

__device__ int own = -1;

__global__ void set_own(int value) { own = value; }

__global__ void store(int* x) { *x = 1; }

__global__ void add(int* x) { *x += 2; }

// Device 1 adds to what device 0 has stored, which it may reach.
int result_of_both(bool in_order) {
  int *x = nullptr, value = 0;
  cudaEvent_t stored = nullptr;
  CUDA_CHECK(cudaEventCreate(&stored));
  CUDA_CHECK(cudaMalloc(&x, sizeof *x));
  store<<<1, 1>>>(x);
  CUDA_CHECK(cudaEventRecord(stored));
  CUDA_CHECK(cudaSetDevice(1));
  CUDA_CHECK(cudaDeviceEnablePeerAccess(0, 0));
  if (in_order) CUDA_CHECK(cudaStreamWaitEvent(nullptr, stored));
  add<<<1, 1>>>(x);
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaSetDevice(0));
  CUDA_CHECK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDefault));
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaEventDestroy(stored));
  return value;
}

__global__ void count_in_block(int* sum) {
  atomicAdd_block(sum, 1);  // @of_block
}

__global__ void count(int* sum) { atomicAdd_system(sum, 1); }

// Both devices at the same time.
void count_with(void (*kernel)(int*)) {
  int* sum = nullptr;
  CUDA_CHECK(cudaMallocManaged(&sum, sizeof *sum));
  *sum = 0;
  for (int device = 0; device < 2; ++device) {
    CUDA_CHECK(cudaSetDevice(device));
    kernel<<<1, 32>>>(sum);
  }
  for (int device = 0; device < 2; ++device) {
    CUDA_CHECK(cudaSetDevice(device));
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  std::printf("%d\n", *sum);
  CUDA_CHECK(cudaFree(sum));
}

CASE(scope_of_a_block) { count_with(count_in_block); }

CASE(scope_of_the_system) { count_with(count); }

CASE(race) { std::printf("%d\n", result_of_both(false)); }

CASE(ordered) {
  int values[2] = {};
  for (int device = 0; device < 2; ++device) {
    CUDA_CHECK(cudaSetDevice(device));
    set_own<<<1, 1>>>(device);
  }
  for (int device = 0; device < 2; ++device) {
    CUDA_CHECK(cudaSetDevice(device));
    CUDA_CHECK(cudaMemcpyFromSymbol(&values[device], own, sizeof(int)));
  }
  CUDA_CHECK(cudaSetDevice(0));
  const int of_both = result_of_both(true);
  std::printf("%d %d %d\n", of_both, values[0], values[1]);
}
