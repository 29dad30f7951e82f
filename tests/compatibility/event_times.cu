// SPDX-License-Identifier: MIT
// FEATURE: streams and graphs: the time between two events
#include "program.h"

__global__ void add(int* x, int n) { *x += n; }

int main() {
  int* x = numbers();
  cudaEvent_t begin, end;
  MUST(cudaEventCreate(&begin));
  MUST(cudaEventCreate(&end));
  MUST(cudaEventRecord(begin));
  add<<<1, 1>>>(x, 1);
  MUST(cudaEventRecord(end));
  MUST(cudaEventSynchronize(end));
  float milliseconds = -1;
  MUST(cudaEventElapsedTime(&milliseconds, begin, end));
  return answer(milliseconds > 0 && *x == 1);
}
