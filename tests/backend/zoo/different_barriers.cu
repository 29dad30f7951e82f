// SPDX-License-Identifier: MIT
// Both branches have a barrier, but not the same one.
// EXPECT: {file}:{even}: error: threads of one block wait at different barriers in kernel 'two_barriers', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{even}: note: threads 0, 2, 4, 6 waiting here in __syncthreads
// EXPECT: {file}:{odd}: note: threads 1, 3, 5, 7 waiting here in __syncthreads
// EXPECT: every thread of the block must come to the same __syncthreads
// RUN: CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_SCHEDULE=random:1

__global__ void two_barriers(int* x) {
  if (threadIdx.x % 2 == 0) {
    x[threadIdx.x] = 0;
    __syncthreads();  // @even
  } else {
    x[threadIdx.x] = 1;
    __syncthreads();  // @odd
  }
}

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 8 * sizeof(int));
  two_barriers<<<1, 8>>>(d_x);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  return 0;
}
