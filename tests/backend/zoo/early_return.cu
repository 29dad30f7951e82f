// SPDX-License-Identifier: MIT
// Threads beyond the end return before a barrier that the others wait at.
// EXPECT: {file}:{barrier}: error: barrier not reached by all threads of the block in kernel 'reverse_block', block (3,0,0), thread (0,0,0)
// EXPECT: 8 of 64 threads wait, 56 have left the kernel
// EXPECT: {file}:{return}: note: threads 8-63 left the kernel here
// RUN: CUDA_CPU_WORKERS=1
// RUN: CUDA_CPU_WORKERS=2 CUDA_CPU_SCHEDULE=reverse

__global__ void reverse_block(float* x, int n) {
  __shared__ float s[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;  // @return
  s[63 - threadIdx.x] = x[i];
  __syncthreads();  // @barrier
  x[i] = s[threadIdx.x];
}

int main() {
  constexpr int n = 200;
  float* d_x = nullptr;
  cudaMalloc(&d_x, n * sizeof(float));
  reverse_block<<<(n + 63) / 64, 64>>>(d_x, n);
  cudaDeviceSynchronize();
  cudaFree(d_x);
}
