// SPDX-License-Identifier: MIT
// Memory is freed twice and nobody looks at the second error: the run still ends with a failing
// status.
// EXPECT-STATUS: 1
// EXPECT: {file}:{again}: error: double free with cudaFree
// EXPECT: {file}:{alloc}: note: allocated here by cudaMalloc
// EXPECT: {file}:{free}: note: freed here

#include "../../../common/check.cuh"

int main() {
  float* x;
  CUDA_CHECK(cudaMalloc(&x, 1024));  // @alloc
  cudaFree(x);                       // @free
  cudaFree(x);                       // @again
}
