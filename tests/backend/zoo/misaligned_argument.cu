// SPDX-License-Identifier: MIT
// The host casts the address of packed bytes and passes it on.
// EXPECT: {file}:{launch}: error: a misaligned pointer is passed to kernel 'twice'
// EXPECT: is no multiple of 4, the alignment of its type
// EXPECT-STDOUT: cudaErrorMisalignedAddress
#include <cstdio>

__global__ void twice(int* x) { x[threadIdx.x] *= 2; }

int main() {
  char* d_bytes;
  cudaMalloc(&d_bytes, 256);
  twice<<<1, 32>>>(reinterpret_cast<int*>(d_bytes + 3));  // @launch
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(d_bytes);
}
