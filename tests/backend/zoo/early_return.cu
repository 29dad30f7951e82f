// SPDX-License-Identifier: MIT
// Threads return before a barrier that the others wait at.
//
// CASE: refused
// Threads beyond the end return before a barrier that the others wait at.
// EXPECT: {file}:{barrier}: error: barrier not reached by all threads of the block in kernel 'reverse_block', block (3,0,0), thread (0,0,0)
// EXPECT: 8 of 64 threads wait, 56 have left the kernel
// EXPECT: {file}:{return}: note: threads 8-63 left the kernel here
// RUN: CUDA_CPU_WORKERS=1
// RUN: CUDA_CPU_WORKERS=2 CUDA_CPU_SCHEDULE=reverse
//
// CASE: allowed
// The same early return counts as an arrival on request. Current GPUs count it so, though the CUDA
// guide does not promise it.
// RUN: CUDA_CPU_EARLY_RETURN=allow CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_EARLY_RETURN=allow CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_EARLY_RETURN=allow CUDA_CPU_SCHEDULE=random:5
// EXPECT-STATUS: 0
// EXPECT-STDOUT: sum 66 votes 12
// EXPECT-NOT: error

#include <cstdio>

#include "cases.cuh"

namespace refused {

__global__ void reverse_block(float* x, int n) {
  __shared__ float s[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;  // @return
  s[63 - threadIdx.x] = x[i];
  __syncthreads();  // @barrier
  x[i] = s[threadIdx.x];
}

int program() {
  constexpr int n = 200;
  float* d_x = nullptr;
  cudaMalloc(&d_x, n * sizeof(float));
  reverse_block<<<(n + 63) / 64, 64>>>(d_x, n);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  return 0;
}

}  // namespace refused

namespace allowed {

__global__ void sum_first(int* x, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  __shared__ int s[64];
  s[i] = i;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += s[k];
  const unsigned votes = __ballot_sync(0xffffffffu, 1);
  if (i == 0) {
    x[0] = sum;
    x[1] = __popc(votes);
  }
}

int program() {
  int* d_x = nullptr;
  int x[2];
  cudaMalloc(&d_x, sizeof(x));
  sum_first<<<1, 64>>>(d_x, 12);
  cudaMemcpy(x, d_x, sizeof(x), cudaMemcpyDeviceToHost);
  std::printf("sum %d votes %d\n", x[0], x[1]);
  cudaFree(d_x);
  return 0;
}

}  // namespace allowed

int main(int argc, char** argv) {
  return run_case(argc, argv, {{"refused", refused::program}, {"allowed", allowed::program}});
}
