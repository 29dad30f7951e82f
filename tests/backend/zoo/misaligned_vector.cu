// SPDX-License-Identifier: MIT
// A float4 read from an address that is no multiple of 16.
// EXPECT-STATUS: 1
// EXPECT: {file}:{read}: error: misaligned address in kernel 'load', block (0,0,0), thread (0,0,0)
// ARCH: x86_64

#include "../../../common/check.cuh"

__global__ void load(const float* x, float4* y) {
  *y = *reinterpret_cast<const float4*>(x + 1);  // @read
}

int main() {
  float* x;
  float4* y;
  CUDA_CHECK(cudaMalloc(&x, 32 * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&y, sizeof(float4)));
  load<<<1, 1>>>(x, y);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
