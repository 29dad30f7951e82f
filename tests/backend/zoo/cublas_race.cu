// SPDX-License-Identifier: MIT
// cuBLAS reads in its stream what a kernel of another stream writes.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// EXPECT: {file}:{fill}: error: race: a write in kernel 'fill'
// EXPECT: {file}:{call}: note: a read by cublasSdot; nothing orders the two
#include <cublas_v2.h>

#include <cstdio>

__global__ void fill(float* x) {
  x[threadIdx.x] = 2;  // @fill
}

int main() {
  cudaStream_t ours, of_cublas;
  cudaStreamCreateWithFlags(&ours, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&of_cublas, cudaStreamNonBlocking);
  float* d_x;
  cudaMalloc(&d_x, 32 * sizeof(float));
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSetStream(handle, of_cublas);
  fill<<<1, 32, 0, ours>>>(d_x);
  float sum = 0;
  cublasSdot(handle, 32, d_x, 1, d_x, 1, &sum);  // @call
  cudaDeviceSynchronize();
  std::printf("%g\n", sum);
  cublasDestroy(handle);
  cudaFree(d_x);
  cudaStreamDestroy(ours);
  cudaStreamDestroy(of_cublas);
  return 0;
}
