// SPDX-License-Identifier: MIT
// Two arrays share one declaration: an index past the end of the first must not reach the second.
// EXPECT: {file}:{write}: error: out-of-bounds write in kernel 'fill', block (0,0,0), thread (31,0,0)
// EXPECT: the end of the __shared__ array 'a' (128 bytes)
// EXPECT: {file}:{declaration}: note: declared here
// EXPECT-STDOUT: cudaErrorIllegalAddress
#include <cstdio>

__global__ void fill(float* out) {
  __shared__ float a[32], b[32];  // @declaration
  b[threadIdx.x] = 1;
  a[threadIdx.x + 1] = 2;  // @write
  __syncthreads();
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

int main() {
  float* d_out = nullptr;
  cudaMalloc(&d_out, 32 * sizeof(float));
  fill<<<1, 32>>>(d_out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(d_out);
  return 0;
}
