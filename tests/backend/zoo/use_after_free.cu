// SPDX-License-Identifier: MIT
// The kernel still uses memory that was freed.
// EXPECT-STATUS: 1
// EXPECT: {file}:{read}: error: use after free (read) in kernel 'read_first'
// EXPECT: block (0,0,0), thread (0,0,0)
// EXPECT: the address is byte 0 of freed device memory (256 elements of 4 bytes)
// EXPECT: {file}:{alloc}: note: allocated here by cudaMalloc
// EXPECT: {file}:{free}: note: freed here

#include "../../../common/check.cuh"

__global__ void read_first(const int* x, int* y) {
  *y = x[0];  // @read
}

int main() {
  int *x, *y;
  CUDA_CHECK(cudaMalloc(&x, 256 * sizeof(int)));  // @alloc
  CUDA_CHECK(cudaMalloc(&y, sizeof(int)));
  CUDA_CHECK(cudaFree(x));  // @free
  read_first<<<1, 1>>>(x, y);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
