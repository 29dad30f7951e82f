// SPDX-License-Identifier: MIT
// A kernel follows a pointer that it read from memory nobody wrote.
// EXPECT-STATUS: 1
// EXPECT: {file}:{read}: error: read through a pointer from uninitialised memory in kernel 'chase'
// EXPECT: memory that nobody wrote holds 0xff

#include "../../../common/check.cuh"

__global__ void chase(int** table, int* y) {
  *y = table[0][4];  // @read
}

int main() {
  int **table, *y;
  CUDA_CHECK(cudaMalloc(&table, 8 * sizeof(int*)));
  CUDA_CHECK(cudaMalloc(&y, sizeof(int)));
  chase<<<1, 1>>>(table, y);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
