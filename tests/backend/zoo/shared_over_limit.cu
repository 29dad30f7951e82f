// SPDX-License-Identifier: MIT
// Static and dynamic shared memory are each within the limit, but not together.
// EXPECT: {file}:{array}: error: too much shared memory in kernel 'greedy', block (0,0,0), thread (0,0,0)
// EXPECT: the block uses 32768 bytes of __shared__ arrays and 32768 bytes of dynamic shared memory; it has 49152
// EXPECT-STDOUT: cudaErrorInvalidValue
#include <cstdio>

__global__ void greedy(float* x) {
  __shared__ float s[8192];  // @array
  extern __shared__ float t[];
  s[threadIdx.x] = x[threadIdx.x];
  t[threadIdx.x] = s[threadIdx.x];
}

int main() {
  float* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(float));
  greedy<<<1, 32, 32768>>>(d_x);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(d_x);
  return 0;
}
