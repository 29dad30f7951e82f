// SPDX-License-Identifier: MIT
// A matrix of 2 rows and 3 columns is passed as if it were row-major, and nobody looks at the
// status. Then the same numbers, which fit, are said of a smaller allocation.
// EXPECT: {file}:{small}: error: cublasSgemv: lda = 3, but A has 4 rows
// EXPECT: it returns CUBLAS_STATUS_INVALID_VALUE
// EXPECT: {file}:{past}: error: cublasSgemv reads past the end of A
// EXPECT: A has 2 rows and 3 columns, lda = 3
// EXPECT: that is 8 elements of 4 bytes
// EXPECT: {file}:{allocated}: note: allocated here by cudaMalloc
#include <cublas_v2.h>

int main() {
  float *d_a, *d_x, *d_y;
  cudaMalloc(&d_a, 2 * 3 * sizeof(float));  // @allocated
  cudaMalloc(&d_x, 4 * sizeof(float));
  cudaMalloc(&d_y, 4 * sizeof(float));
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  const cublasOperation_t op = CUBLAS_OP_N;
  cublasSgemv(handle, op, 4, 3, &one, d_a, 3, d_x, 1, &zero, d_y, 1);  // @small
  cublasSgemv(handle, op, 2, 3, &one, d_a, 3, d_x, 1, &zero, d_y, 1);  // @past
  cudaDeviceSynchronize();
  return 0;
}
