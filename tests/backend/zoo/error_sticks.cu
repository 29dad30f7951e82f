// SPDX-License-Identifier: MIT
// After a kernel failed, every later call says so, until the device is reset. The run fails all the
// same.
// EXPECT: error: null pointer write in kernel 'fill'
// EXPECT-STDOUT: cudaErrorIllegalAddress cudaErrorIllegalAddress cudaErrorIllegalAddress
// EXPECT-STDOUT: after cudaDeviceReset: cudaSuccess

#include <cstdio>

#include "../../../common/check.cuh"

__global__ void fill(int* x) { *x = 1; }

int main() {
  int *x = nullptr, *y = nullptr;
  fill<<<1, 1>>>(x);
  const cudaError_t sync = cudaDeviceSynchronize();
  const cudaError_t last = cudaGetLastError();
  const cudaError_t allocate = cudaMalloc(&y, 4);
  std::printf("%s %s %s\n", cudaGetErrorName(sync), cudaGetErrorName(last),
              cudaGetErrorName(allocate));
  cudaDeviceReset();
  std::printf("after cudaDeviceReset: %s\n", cudaGetErrorName(cudaMalloc(&y, 4)));
}
