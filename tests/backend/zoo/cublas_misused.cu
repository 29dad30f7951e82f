// SPDX-License-Identifier: MIT
// Calls of cuBLAS with operands that are the host's, or smaller than the call says.
//
// CASE: host_pointer
// The host's matrix is passed to cuBLAS.
// EXPECT: {file}:{call}: error: a host pointer is passed to cublasSgemm
// EXPECT: B, 0x
// EXPECT: is no address that the device can reach
// EXPECT-STDOUT: the function failed to launch on the GPU, cudaErrorIllegalAddress
//
// CASE: leading_dimension
// A matrix of 2 rows and 3 columns is passed as if it were row-major, and nobody looks at the
// status. Then the same numbers, which fit, are said of a smaller allocation.
// EXPECT: {file}:{small}: error: cublasSgemv: lda = 3, but A has 4 rows
// EXPECT: it returns CUBLAS_STATUS_INVALID_VALUE
// EXPECT: {file}:{past}: error: cublasSgemv reads past the end of A
// EXPECT: A has 2 rows and 3 columns, lda = 3
// EXPECT: that is 8 elements of 4 bytes
// EXPECT: {file}:{allocated}: note: allocated here by cudaMalloc

#include <cublas_v2.h>
#include <vector>

#include <cstdio>

#include "cases.cuh"

namespace host_pointer {

int program() {
  const int n = 4;
  const std::vector<float> b(n * n, 1.0f);
  float *d_a, *d_c;
  cudaMalloc(&d_a, n * n * sizeof(float));
  cudaMalloc(&d_c, n * n * sizeof(float));
  cudaMemset(d_a, 0, n * n * sizeof(float));
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  const float* const h_b = b.data();
  const cublasOperation_t op = CUBLAS_OP_N;
  cublasStatus_t status;
  status = cublasSgemm(handle, op, op, n, n, n, &one, d_a, n, h_b, n, &zero, d_c, n);  // @call
  std::printf("%s, %s\n", cublasGetStatusString(status), cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}

}  // namespace host_pointer

namespace leading_dimension {

int program() {
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

}  // namespace leading_dimension

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"host_pointer", host_pointer::program}, {"leading_dimension", leading_dimension::program}});
}
