// SPDX-License-Identifier: MIT
// Several devices, and what belongs to another one than the program thinks.
// RUN: CUDA_CPU_DEVICES=2
//
// CASE: memory_of_another_device
// EXPECT: {file}:{launch}: error: memory of device 0 is passed to kernel 'store' on device 1
// EXPECT: {file}:{allocated}: note: allocated here by cudaMalloc
// EXPECT: help: cudaSetDevice(0) before the launch, a copy, or cudaDeviceEnablePeerAccess(0, 0)
//
// CASE: pointer_to_another_device
// The address lies in a structure, so only the access shows it.
// EXPECT: {file}:{write}: error: write of memory of device 0 by a kernel on device 1 in kernel 'store_there'
// EXPECT: {file}:{allocated}: note: allocated here by cudaMalloc
// EXPECT: help: cudaDeviceEnablePeerAccess(0, 0) while device 1 is current, or a copy
//
// CASE: stream_of_another_device
// EXPECT: {file}:{foreign}: error: kernel 'store' cannot be launched with <<<(1,1,1), (1,1,1)>>>
// EXPECT: the stream belongs to device 0, and device 1 is the current one: cudaSetDevice(0) before the launch
//
// CASE: other_device_not_waited_for
// The program waits for device 1, and device 0 has not begun.
// EXPECT-STATUS: 0
// EXPECT-STDOUT: 0
// EXPECT: {file}:{unfinished}: note: the program ended before this ran: kernel 'store'
//
// CASE: devices_that_are_right
// EXPECT-STDOUT: 42 42

#include <cuda_runtime.h>

#include <cstdio>

#include "../../../common/check.cuh"
#include "cases.cuh"

__global__ void store(int* x, int value) { *x = value; }

struct Place {
  int* x;
};

__global__ void store_there(const Place* place, int value) {
  *place->x = value;  // @write
}

int* int_on(int device) {
  CUDA_CHECK(cudaSetDevice(device));
  int* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, sizeof *x));  // @allocated
  return x;
}

CASE(memory_of_another_device) {
  int* const x = int_on(0);
  CUDA_CHECK(cudaSetDevice(1));
  store<<<1, 1>>>(x, 42);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
}

CASE(pointer_to_another_device) {
  const Place place{int_on(0)};
  CUDA_CHECK(cudaSetDevice(1));
  Place* copy = nullptr;
  CUDA_CHECK(cudaMalloc(&copy, sizeof place));
  CUDA_CHECK(cudaMemcpy(copy, &place, sizeof place, cudaMemcpyHostToDevice));
  store_there<<<1, 1>>>(copy, 42);
  CUDA_CHECK(cudaDeviceSynchronize());
}

CASE(stream_of_another_device) {
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreate(&stream));
  int* const x = int_on(1);
  store<<<1, 1, 0, stream>>>(x, 42);  // @foreign
  CUDA_CHECK_LAUNCH();
}

CASE(other_device_not_waited_for) {
  int* x = nullptr;
  CUDA_CHECK(cudaMallocHost(&x, sizeof *x));
  *x = 0;
  store<<<1, 1>>>(x, 42);  // @unfinished
  CUDA_CHECK(cudaSetDevice(1));
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("%d\n", *x);
}

CASE(devices_that_are_right) {
  int* const there = int_on(0);
  int* const here = int_on(1);
  CUDA_CHECK(cudaDeviceEnablePeerAccess(0, 0));
  store<<<1, 1>>>(there, 42);
  CUDA_CHECK(cudaMemcpyPeer(here, 1, there, 0, sizeof *here));
  int values[2] = {};
  CUDA_CHECK(cudaMemcpy(&values[0], there, sizeof(int), cudaMemcpyDefault));
  CUDA_CHECK(cudaMemcpy(&values[1], here, sizeof(int), cudaMemcpyDefault));
  std::printf("%d %d\n", values[0], values[1]);
  CUDA_CHECK(cudaFree(there));
  CUDA_CHECK(cudaFree(here));
}
