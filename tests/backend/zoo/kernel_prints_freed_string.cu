// SPDX-License-Identifier: MIT
// A kernel's printf reads a freed string. The library holds its lock then: the process ends here.
// EXPECT-STATUS: 1
// EXPECT: {file}:{print}: error: use after free (read) in kernel 'greet'
// EXPECT: {file}:{free}: note: freed here

#include <cstdio>

#include "../../../common/check.cuh"

__global__ void greet(const char* name) {
  printf("hello %s\n", name);  // @print
}

int main() {
  char* name;
  CUDA_CHECK(cudaMalloc(&name, 4096));
  CUDA_CHECK(cudaMemset(name, 0, 4096));
  CUDA_CHECK(cudaFree(name));  // @free
  greet<<<8, 32>>>(name);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
