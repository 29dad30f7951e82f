// SPDX-License-Identifier: MIT
// More threads than elements, and no guard.
// EXPECT-STATUS: 1
// EXPECT: {file}:{write}: error: out-of-bounds write in kernel 'fill'
// EXPECT: block (3,0,0), thread (232,0,0)
// EXPECT: the address is right behind the end of device memory (1000 elements of 4 bytes)
// EXPECT: {file}:{alloc}: note: allocated here by cudaMalloc

#include "../../../common/check.cuh"

__global__ void fill(int* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 1;  // @write
}

int main() {
  const int n = 1000;
  int* x;
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(int)));  // @alloc
  fill<<<(n + 255) / 256, 256>>>(x);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
