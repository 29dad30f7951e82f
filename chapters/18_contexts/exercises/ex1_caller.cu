// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 18, fix the bug: a library that takes its caller's context away.
//
// doubled() belongs to a library. It works in the library's context, and its caller notices nothing
// of that: afterwards the host thread's stack of contexts is as it was, whatever was on it.
// look() is told where the numbers are on the device.
// Check it: make lab CH=18 EX=1      A hint: make hint CH=18 EX=1
#include <cuda.h>

#include <functional>

#include "common/common.cuh"

#define DRIVER_CHECK(call) CUDA_CHECK(static_cast<cudaError_t>(call))  // the codes have one meaning

__global__ void double_each(int* x, std::size_t n) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

using Look = std::function<void(CUdeviceptr d_x)>;

std::vector<int> doubled(CUcontext of_library, const std::vector<int>& x, const Look& look) {
  const std::size_t bytes = x.size() * sizeof(int);
  std::vector<int> y(x.size());
  CUdeviceptr d_x = 0;
  // TODO: in which context is the memory allocated?
  DRIVER_CHECK(cuCtxSetCurrent(of_library));
  // end of TODO
  DRIVER_CHECK(cuMemAlloc(&d_x, bytes));
  DRIVER_CHECK(cuMemcpyHtoD(d_x, x.data(), bytes));
  double_each<<<blocks_for(x.size(), 256), 256>>>(reinterpret_cast<int*>(d_x), x.size());
  CUDA_CHECK_LAUNCH();
  look(d_x);
  DRIVER_CHECK(cuMemcpyDtoH(y.data(), d_x, bytes));
  DRIVER_CHECK(cuMemFree(d_x));
  // TODO: and which one is current for the caller?
  // end of TODO
  return y;
}
