// SPDX-License-Identifier: MIT
// The host runs past the end of pinned memory.
// EXPECT-STATUS: 1
// EXPECT: {file}:{write}: error: out-of-bounds write by host code
// EXPECT: the address is right behind the end of pinned host memory (1024 elements of 4 bytes)
// EXPECT: {file}:{alloc}: note: allocated here by cudaMallocHost

#include "../../../common/check.cuh"

int main() {
  const int n = 1024;
  int* x;
  CUDA_CHECK(cudaMallocHost(&x, n * sizeof(int)));  // @alloc
  for (volatile int i = 0; i <= n; i = i + 1) {
    x[i] = 0;  // @write
  }
}
