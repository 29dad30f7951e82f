// SPDX-License-Identifier: MIT
// Results in pinned and in mapped memory are read before anything waits: they are not there yet.
// EXPECT-STATUS: 0
// EXPECT-STDOUT: before: copied -1, mapped -1
// EXPECT-STDOUT: after: copied 7, mapped 7

#include <cstdio>

#include "../../../common/check.cuh"

__global__ void produce(int* x, int* mapped) {
  *x = 7;
  *mapped = 7;
}

int main() {
  int *x, *copied, *mapped;
  CUDA_CHECK(cudaMalloc(&x, sizeof(int)));
  CUDA_CHECK(cudaMallocHost(&copied, sizeof(int)));
  CUDA_CHECK(cudaHostAlloc(&mapped, sizeof(int), cudaHostAllocMapped));
  produce<<<1, 1>>>(x, mapped);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpyAsync(copied, x, sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("before: copied %d, mapped %d\n", *copied, *mapped);
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("after: copied %d, mapped %d\n", *copied, *mapped);
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFreeHost(copied));
  CUDA_CHECK(cudaFreeHost(mapped));
}
