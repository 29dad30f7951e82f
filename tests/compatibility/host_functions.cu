// SPDX-License-Identifier: MIT
// FEATURE: streams and graphs: host functions in a stream
#include "program.h"

__global__ void add(int* x, int n) { *x += n; }

void CUDART_CB twice(void* x) { *static_cast<int*>(x) *= 2; }

int main() {
  int *x = numbers(), calls = 3;
  add<<<1, 1>>>(x, 1);
  MUST(cudaLaunchHostFunc(nullptr, twice, &calls));
  wait();
  return answer(calls == 6 && *x == 1);
}
