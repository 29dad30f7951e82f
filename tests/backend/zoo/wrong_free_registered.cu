// SPDX-License-Identifier: MIT
// Registered memory must be unregistered, and pinned memory freed. Here it is the other way round.
// EXPECT-STATUS: 0
// EXPECT: {file}:{registered}: error: cudaFreeHost of memory that cudaHostRegister allocated
// EXPECT: help: free it with cudaHostUnregister
// EXPECT-STDOUT: cudaFreeHost of registered memory: cudaErrorInvalidValue
// EXPECT-STDOUT: cudaHostUnregister of pinned memory: cudaErrorHostMemoryNotRegistered
// EXPECT-STDOUT: cudaHostUnregister twice: cudaErrorHostMemoryNotRegistered

#include <cstdio>
#include <vector>

#include "../../../common/check.cuh"

void show(const char* what, cudaError_t error) {
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
  cudaGetLastError();  // asking clears it
}

int main() {
  std::vector<float> heap(4096);
  float* pinned;
  CUDA_CHECK(cudaMallocHost(&pinned, 4096));
  CUDA_CHECK(cudaHostRegister(heap.data(), 16384, cudaHostRegisterDefault));
  show("cudaFreeHost of registered memory", cudaFreeHost(heap.data()));  // @registered
  show("cudaHostUnregister of pinned memory", cudaHostUnregister(pinned));
  CUDA_CHECK(cudaHostUnregister(heap.data()));
  show("cudaHostUnregister twice", cudaHostUnregister(heap.data()));
  CUDA_CHECK(cudaFreeHost(pinned));
}
