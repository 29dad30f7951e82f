// SPDX-License-Identifier: MIT
// Rows that a warp prints, where the compiler has made two of one statement: one for the thread
// that prints more, one for the others.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// EXPECT-STDOUT: ids: 0 1 2 3 4 5 6 7
// EXPECT-STDOUT: twice: 0 2 4 6 8 10 12 14 .
#include <cstdio>

__global__ void print_two_rows() {
  const int t = threadIdx.x;
  if (t == 0) printf("ids: ");
  printf("%d ", t);
  if (t == 0) printf("\ntwice: ");
  const int v = __shfl_sync(0xff, 2 * t, t);
  printf("%d ", v);
}

int main() {
  print_two_rows<<<1, 8>>>();
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf(".\n");
  return error;
}
