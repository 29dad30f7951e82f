// SPDX-License-Identifier: MIT
// A setting with a value that is not allowed ends the program before main, even one that it would
// not use.
// EXPECT: CUDA CPU backend: CUDA_CPU_
// EXPECT: =junk: expected
// EXPECT-NOT: main was reached
// RUN: CUDA_CPU_TIMEOUT=junk
// RUN: CUDA_CPU_SCHEDULE=junk
// RUN: CUDA_CPU_WORKERS=junk
// RUN: CUDA_CPU_DEVICES=junk
// RUN: CUDA_CPU_LEAKS=junk

#include <cstdio>

int main() {
  std::fprintf(stderr, "main was reached\n");
  return cudaFree(nullptr);
}
