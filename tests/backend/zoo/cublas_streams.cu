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
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:3
// EXPECT-STDOUT: 128

#include <cublas_v2.h>

#include <cstdio>

#include "cases.cuh"

__global__ void fill(float* x) {
  x[threadIdx.x] = 2;  // @fill
}

// cuBLAS sums in its stream what a kernel fills in another one.
void fill_and_sum(bool in_order) {
  cudaStream_t ours, of_cublas;
  cudaStreamCreateWithFlags(&ours, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&of_cublas, cudaStreamNonBlocking);
  cudaEvent_t filled;
  cudaEventCreate(&filled);
  float *d_x, sum = 0;
  cudaMalloc(&d_x, 32 * sizeof(float));
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSetStream(handle, of_cublas);
  fill<<<1, 32, 0, ours>>>(d_x);
  cudaEventRecord(filled, ours);
  if (in_order) cudaStreamWaitEvent(of_cublas, filled);
  cublasSdot(handle, 32, d_x, 1, d_x, 1, &sum);  // @call
  cudaDeviceSynchronize();
  std::printf("%g\n", sum);
  cublasDestroy(handle);
  cudaFree(d_x);
  cudaEventDestroy(filled);
  cudaStreamDestroy(ours);
  cudaStreamDestroy(of_cublas);
}

CASE(race) { fill_and_sum(false); }
CASE(ordered) { fill_and_sum(true); }
