// SPDX-License-Identifier: MIT
// cuBLAS and a kernel of another stream use one array: unordered, and its right twin.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
//
// CASE: race
// cuBLAS reads in its stream what a kernel of another stream writes.
// EXPECT: {file}:{fill}: error: race: a write in kernel 'fill'
// EXPECT: {file}:{call}: note: a read by cublasSdot; nothing orders the two
//
// CASE: ordered
// The right twin of the other programs with cuBLAS: columns of a row-major matrix, streams in
// order, nothing to report.
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:3
// EXPECT-STDOUT: 6 15 128

#include <cublas_v2.h>

#include <cstdio>

#include "cases.cuh"

__global__ void fill(float* x) {
  x[threadIdx.x] = 2;  // @fill
}

CASE(race) {
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
}

CASE(ordered) {
  // 2 rows of 3 elements, row-major: cuBLAS sees the transposed matrix.
  const float a[] = {1, 2, 3, 4, 5, 6}, ones[] = {1, 1, 1};
  float *d_a, *d_ones, *d_y, *d_x, y[2];
  cudaMalloc(&d_a, sizeof(a));
  cudaMalloc(&d_ones, sizeof(ones));
  cudaMalloc(&d_y, sizeof(y));
  cudaMalloc(&d_x, 32 * sizeof(float));
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSetMatrix(3, 2, sizeof(float), a, 3, d_a, 3);
  cublasSetVector(3, sizeof(float), ones, 1, d_ones, 1);
  const float one = 1, zero = 0;
  cublasSgemv(handle, CUBLAS_OP_T, 3, 2, &one, d_a, 3, d_ones, 1, &zero, d_y, 1);
  cublasGetVector(2, sizeof(float), d_y, 1, y, 1);

  cudaStream_t ours, of_cublas;
  cudaEvent_t filled;
  cudaStreamCreateWithFlags(&ours, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&of_cublas, cudaStreamNonBlocking);
  cudaEventCreate(&filled);
  cublasSetStream(handle, of_cublas);
  fill<<<1, 32, 0, ours>>>(d_x);
  cudaEventRecord(filled, ours);
  cudaStreamWaitEvent(of_cublas, filled);
  float sum = 0;
  cublasSdot(handle, 32, d_x, 1, d_x, 1, &sum);
  std::printf("%g %g %g\n", y[0], y[1], sum);
  cublasDestroy(handle);
  for (float* pointer : {d_a, d_ones, d_y, d_x}) cudaFree(pointer);
  cudaEventDestroy(filled);
  cudaStreamDestroy(ours);
  cudaStreamDestroy(of_cublas);
}
