// SPDX-License-Identifier: MIT
// Host code uses memory that it may not use.
//
// CASE: host_reads_device
// The host follows a device pointer.
// EXPECT: {file}:{read}: error: host code read device memory
// EXPECT: the address is byte 12 of an allocation of 16 elements of 4 bytes
// EXPECT: {file}:{host_reads_device_alloc}: note: allocated here by cudaMalloc
// EXPECT: help: a device pointer means nothing on the host; copy with cudaMemcpy
//
// CASE: host_writes_device
// A library's function writes device memory: memcpy instead of cudaMemcpy.
// EXPECT: {file}:{copy}: error: host code wrote device memory
//
// CASE: host_prints_device_string
// printf follows the pointer: the library's code faults, but the report names the program's line.
// EXPECT: {file}:{print}: error: host code read device memory
//
// CASE: pinned_overrun
// The host runs past the end of pinned memory.
// EXPECT: {file}:{write}: error: out-of-bounds write by host code
// EXPECT: the address is right after the end of pinned host memory (1024 elements of 4 bytes)
// EXPECT: {file}:{pinned_overrun_alloc}: note: allocated here by cudaMallocHost
//
// CASE: null_on_host
// A library's function follows a null pointer, before any call of CUDA: atoi of an argument that
// was not given.
// EXPECT: {file}:{null_on_host}: error: segmentation fault in host code
// EXPECT: the address is 0: a null pointer was followed
// EXPECT: help: was the pointer set? an argument that the program reads from argv is given as in ARGS="1000"
//
// CASE: freed_on_host
// The host writes memory that it has given back to the system.
// EXPECT: {file}:{freed_on_host}: error: segmentation fault in host code
//
// CASE: host_stack_full
// Local arrays of the host need more than its stack.
// EXPECT: {file}:{host_stack_full}: error: segmentation fault in host code
// EXPECT: the stack of the host is full
// EXPECT: help: recursion without an end, or a large local array: make it a std::vector

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../../../common/check.cuh"
#include "cases.cuh"

CASE(host_reads_device) {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 16 * sizeof(int)));  // @host_reads_device_alloc
  CUDA_CHECK(cudaMemset(x, 0, 16 * sizeof(int)));
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("%d\n", x[3]);  // @read
}

CASE(host_writes_device) {
  std::vector<int> h_x(100000, 1);
  int* x;
  CUDA_CHECK(cudaMalloc(&x, h_x.size() * sizeof(int)));
  std::memcpy(x, h_x.data(), h_x.size() * sizeof(int));  // @copy
}

CASE(host_prints_device_string) {
  char* text;
  CUDA_CHECK(cudaMalloc(&text, 64));
  CUDA_CHECK(cudaMemset(text, 0, 64));
  std::printf("[%s]\n", text);  // @print
}

CASE(pinned_overrun) {
  const int n = 1024;
  int* x;
  CUDA_CHECK(cudaMallocHost(&x, n * sizeof(int)));  // @pinned_overrun_alloc
  for (volatile int i = 0; i <= n; i = i + 1) {
    x[i] = 0;  // @write
  }
}

CASE(null_on_host) {
  const char* volatile argument = nullptr;
  std::exit(std::atoi(argument));  // @null_on_host
}

CASE(freed_on_host) {
  const std::size_t bytes = std::size_t{64}
                            << 20;  // so many come from the system, and go back to it
  auto* const x = static_cast<int*>(std::malloc(bytes));
  int* volatile kept = x;
  std::free(x);
  kept[bytes / 2 / sizeof(int)] = 1;  // @freed_on_host
}

int sum_below(volatile int* turns) {  // @host_stack_full
  volatile int large[1 << 20];
  large[0] = *turns;
  return (*turns)++ < 1000 ? sum_below(turns) + large[0] : 0;
}

CASE(host_stack_full) {
  volatile int turns = 0;
  std::exit(sum_below(&turns));
}
