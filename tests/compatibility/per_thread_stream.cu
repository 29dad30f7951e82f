// SPDX-License-Identifier: MIT
// FEATURE: streams and graphs: the default stream of a thread
#include "program.h"

__global__ void add(int* x, int n) { *x += n; }

int main() {
  int* x = numbers();
  add<<<1, 1, 0, cudaStreamPerThread>>>(x, 1);
  MUST(cudaStreamSynchronize(cudaStreamPerThread));
  return answer(*x == 1);
}
