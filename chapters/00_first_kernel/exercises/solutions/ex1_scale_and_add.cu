// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 00, write the kernel: scale and add.
//
// y[i] = a * x[i] + y[i] for n elements, a thread for each. You write the kernel and its launch.
// Check it: make lab CH=00 EX=1      A hint: make hint CH=00 EX=1
#include "common/common.cuh"

__global__ void scale_and_add(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// d_x, d_y: n floats in device memory, n >= 1. Uses the fewest blocks of 128 threads that do.
void scale_and_add_on_device(float a, const float* d_x, float* d_y, int n) {
  const int block = 128, grid = (n + block - 1) / block;
  scale_and_add<<<grid, block>>>(a, d_x, d_y, n);
}
