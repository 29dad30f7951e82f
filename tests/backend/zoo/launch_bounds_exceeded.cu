// SPDX-License-Identifier: MIT
// The kernel promises blocks of 128 threads at most, so a GPU does not launch one of 256.
// EXPECT: {file}:{kernel}: error: a block of 256 threads, where __launch_bounds__ allows 128
// EXPECT: a GPU does not launch such a kernel
// EXPECT: {file}:{launch}: note: kernel launched here as <<<(1,1,1), (256,1,1)>>>
// EXPECT-STDOUT: then: cudaErrorInvalidValue
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kMost = 64;

template <int kFactor>
__global__ void __launch_bounds__(kMost* kFactor, 2) fill(int* x) {  // @kernel
  x[threadIdx.x] = threadIdx.x;
}

int main() {
  int* x;
  cudaMalloc(&x, 256 * sizeof(int));
  fill<2><<<1, 128>>>(x);
  fill<4><<<1, 256>>>(x);
  cudaDeviceSynchronize();
  fill<2><<<1, 256>>>(x);  // @launch
  std::printf("then: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(x);
}
