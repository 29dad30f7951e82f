// SPDX-License-Identifier: MIT
// A kernel writes far behind a pointer that was never allocated: row 100,000 of a matrix.
// EXPECT-STATUS: 1
// EXPECT: {file}:{write}: error: null pointer write in kernel 'fill_row', block (0,0,0), thread (0,0,0)
// EXPECT: an index of a null pointer
// EXPECT-NOT: never allocated

#include "../../../common/check.cuh"

__global__ void fill_row(int* x, int row) {
  x[row * 1000 + threadIdx.x] = 1;  // @write
}

int main() {
  int* x = nullptr;
  fill_row<<<1, 32>>>(x, 100000);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
