// SPDX-License-Identifier: MIT
// The host's matrix is passed to cuBLAS.
// EXPECT: {file}:{call}: error: a host pointer is passed to cublasSgemm
// EXPECT: B, 0x
// EXPECT: is no address that the device can reach
// EXPECT-STDOUT: the function failed to launch on the GPU, cudaErrorIllegalAddress

#include <cublas_v2.h>
#include <vector>

#include <cstdio>

int main() {
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
