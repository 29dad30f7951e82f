// SPDX-License-Identifier: MIT
// Each kind of memory has its own free.
// EXPECT-STATUS: 0
// EXPECT: {file}:{pinned}: error: cudaFree of memory that cudaMallocHost allocated
// EXPECT: help: free it with cudaFreeHost
// EXPECT: {file}:{device}: error: cudaFreeHost of memory that cudaMalloc allocated
// EXPECT: {file}:{heap}: error: cudaFree of memory that no CUDA call allocated
// EXPECT: {file}:{middle}: error: cudaFree of a pointer into the middle of an allocation
// EXPECT-STDOUT: cudaErrorInvalidValue x4, and it was asked for: 1

#include <cstdio>
#include <vector>

#include "../../../common/check.cuh"

int main() {
  float *pinned, *device;
  std::vector<float> heap(16);
  CUDA_CHECK(cudaMallocHost(&pinned, 64));
  CUDA_CHECK(cudaMalloc(&device, 64));
  const cudaError_t errors[] = {
      cudaFree(pinned),       // @pinned
      cudaFreeHost(device),   // @device
      cudaFree(heap.data()),  // @heap
      cudaFree(device + 1),   // @middle
  };
  int invalid = 0;
  for (const cudaError_t error : errors) invalid += error == cudaErrorInvalidValue;
  // The program asks for the error, so its status is its own again.
  const cudaError_t last = cudaGetLastError();
  std::printf("%s x%d, and it was asked for: %d\n", cudaGetErrorName(last), invalid, last != 0);
  CUDA_CHECK(cudaFreeHost(pinned));
  CUDA_CHECK(cudaFree(device));
}
