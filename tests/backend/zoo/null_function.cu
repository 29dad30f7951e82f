// SPDX-License-Identifier: MIT
// A kernel calls a function pointer that nobody set.
// EXPECT-STATUS: 1
// EXPECT: {file}:{call}: error: call of a null function pointer in kernel 'apply'

#include "../../../common/check.cuh"

using Operation = int (*)(int);
__device__ Operation operation;

__global__ void apply(int* x) {
  x[threadIdx.x] = operation(1);  // @call
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 32 * sizeof(int)));
  apply<<<1, 32>>>(x);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
