// SPDX-License-Identifier: MIT
// The host's array is passed to the kernel.
// EXPECT: {file}:{launch}: error: a host pointer is passed to kernel 'twice'
// EXPECT: argument 1,
// EXPECT-STDOUT: cudaErrorIllegalAddress
#include <cstdio>

__global__ void twice(int* x) { x[threadIdx.x] *= 2; }

int main() {
  int x[32] = {};
  twice<<<1, 32>>>(x);  // @launch
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
