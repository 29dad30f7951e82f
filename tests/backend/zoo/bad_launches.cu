// SPDX-License-Identifier: MIT
// Launches that a GPU refuses: the toolkit's codes, for the program's own error checking to see.
// EXPECT-STATUS: 0
// EXPECT-STDOUT: block of 1025: cudaErrorInvalidConfiguration
// EXPECT-STDOUT: empty grid: cudaErrorInvalidConfiguration
// EXPECT: {file}:{empty}: error: kernel 'touch' cannot be launched
// EXPECT: a dimension of the grid is 0: an integer division rounds down, so write (n + block - 1) / block
// EXPECT-STDOUT: block of depth 65: cudaErrorInvalidConfiguration
// EXPECT-STDOUT: grid of height 65536: cudaErrorInvalidConfiguration
// EXPECT-STDOUT: 49153 bytes of shared memory: cudaErrorInvalidValue
// EXPECT-STDOUT: destroyed stream: cudaErrorInvalidResourceHandle
// EXPECT: {file}:{destroyed}: error: kernel 'touch' cannot be launched
// EXPECT: a stream that does not exist; was it destroyed before?
// EXPECT-STDOUT: then a good one: cudaSuccess 1

#include <cstdio>

#include "../../../common/check.cuh"

__global__ void touch(int* x) { *x = 1; }

int main() {
  int *x, h_x = 0;
  CUDA_CHECK(cudaMalloc(&x, sizeof(int)));
  touch<<<1, 1025>>>(x);
  std::printf("block of 1025: %s\n", cudaGetErrorName(cudaGetLastError()));
  touch<<<0, 32>>>(x);  // @empty
  std::printf("empty grid: %s\n", cudaGetErrorName(cudaGetLastError()));
  touch<<<1, dim3(1, 1, 65)>>>(x);
  std::printf("block of depth 65: %s\n", cudaGetErrorName(cudaGetLastError()));
  touch<<<dim3(1, 65536), 1>>>(x);
  std::printf("grid of height 65536: %s\n", cudaGetErrorName(cudaGetLastError()));
  touch<<<1, 1, 48 * 1024 + 1>>>(x);
  std::printf("49153 bytes of shared memory: %s\n", cudaGetErrorName(cudaGetLastError()));
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaStreamDestroy(stream));
  touch<<<1, 1, 0, stream>>>(x);  // @destroyed
  std::printf("destroyed stream: %s\n", cudaGetErrorName(cudaGetLastError()));
  touch<<<1, 1>>>(x);
  const cudaError_t good = cudaGetLastError();
  CUDA_CHECK(cudaMemcpy(&h_x, x, sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("then a good one: %s %d\n", cudaGetErrorName(good), h_x);
  CUDA_CHECK(cudaFree(x));
}
