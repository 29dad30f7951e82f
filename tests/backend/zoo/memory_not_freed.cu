// SPDX-License-Identifier: MIT
// The program ends well and leaves memory behind: one line says how much, and where most of it is
// from.
// EXPECT-STATUS: 0
// EXPECT: {file}:{large}: note: device memory not freed when the program ended: 2 allocations, 4400 bytes; the largest was allocated here

#include "../../../common/check.cuh"

int main() {
  float *d_x, *d_y, *d_freed;
  CUDA_CHECK(cudaMalloc(&d_x, 400));
  CUDA_CHECK(cudaMallocManaged(&d_y, 4000));  // @large
  CUDA_CHECK(cudaMalloc(&d_freed, 40000));
  CUDA_CHECK(cudaFree(d_freed));
}
