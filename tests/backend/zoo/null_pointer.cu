// SPDX-License-Identifier: MIT
// A kernel writes through a pointer that was never allocated.
// EXPECT-STATUS: 1
// EXPECT: {file}:{write}: error: null pointer write in kernel 'fill', block (0,0,0), thread (0,0,0)
// EXPECT: the pointer is null

#include "../../../common/check.cuh"

__global__ void fill(int* x) {
  x[threadIdx.x] = 1;  // @write
}

int main() {
  int* x = nullptr;
  fill<<<1, 32>>>(x);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
