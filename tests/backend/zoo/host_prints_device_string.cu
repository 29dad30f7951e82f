// SPDX-License-Identifier: MIT
// printf follows the pointer: the library's code faults, but the report names the program's line.
// EXPECT-STATUS: 1
// EXPECT: {file}:{print}: error: host code read device memory

#include <cstdio>

#include "../../../common/check.cuh"

int main() {
  char* text;
  CUDA_CHECK(cudaMalloc(&text, 64));
  CUDA_CHECK(cudaMemset(text, 0, 64));
  std::printf("[%s]\n", text);  // @print
  return 0;
}
