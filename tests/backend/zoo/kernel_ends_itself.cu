// SPDX-License-Identifier: MIT
// A kernel that an assertion or __trap ends, as a GPU's is.
#include <cassert>
#include <cstdio>

#include "cases.cuh"

// FEATURE: kernels: `assert` in device code ends the kernel
// CASE: assertion
// EXPECT: {file}:{assert}: error: assertion 'x == 1' failed
// EXPECT-STDOUT: cudaErrorAssert
__global__ void check(int x) {
  assert(x == 1);  // @assert
}

CASE(assertion) {
  check<<<1, 1>>>(1);
  if (cudaDeviceSynchronize() != cudaSuccess) return;
  check<<<1, 1>>>(2);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
}

// FEATURE: kernels: `__trap` ends the kernel
// CASE: trap
// EXPECT: {file}:{trap}: error: __trap() called
// EXPECT-STDOUT: cudaErrorLaunchFailure
__global__ void give_up(int x) {
  if (x == 2) __trap();  // @trap
}

CASE(trap) {
  give_up<<<1, 1>>>(1);
  if (cudaDeviceSynchronize() != cudaSuccess) return;
  give_up<<<1, 1>>>(2);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
