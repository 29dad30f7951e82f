// SPDX-License-Identifier: MIT
// Chapter 00: what is a kernel?
//
// A whole CUDA program: two arrays are added on the GPU, one thread per element. It needs nothing
// from this repository: nvcc first_kernel.cu -o first_kernel && ./first_kernel
// Run: make run CH=00

#include <cstdio>
#include <vector>

// Every thread of the grid runs this function, and each finds out which element is its own.
__global__ void add(const float* a, const float* b, float* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
  if (threadIdx.x == 0) printf("block %u starts with element %d\n", blockIdx.x, i);
}

int main() {
  const int n = 1000;
  std::vector<float> a(n), b(n), sum(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;

  float *d_a, *d_b, *d_sum;  // d_: addresses in the GPU's own memory
  const std::size_t bytes = n * sizeof(float);
  cudaMalloc(&d_a, bytes);
  cudaMalloc(&d_b, bytes);
  cudaMalloc(&d_sum, bytes);
  cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice);

  const int block = 256, grid = (n + block - 1) / block;  // 4 blocks: 1024 threads, 24 too many
  add<<<grid, block>>>(d_a, d_b, d_sum, n);
  cudaMemcpy(sum.data(), d_sum, bytes, cudaMemcpyDeviceToHost);  // waits for the kernel

  int right = 0;
  for (int i = 0; i < n; ++i) right += sum[i] == 3 * i;
  printf("%d of %d sums are right. CUDA: %s\n", right, n, cudaGetErrorString(cudaGetLastError()));
  cudaFree(d_a), cudaFree(d_b), cudaFree(d_sum);
  return right == n ? 0 : 1;
}
