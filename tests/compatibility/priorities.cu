// SPDX-License-Identifier: MIT
// FEATURE: streams and graphs: priorities of streams
#include "program.h"

__global__ void add(int* x, int n) { *x += n; }

int main() {
  int *x = numbers(), least = 0, greatest = 0, priority = 99;
  cudaStream_t stream;
  MUST(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  MUST(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  MUST(cudaStreamGetPriority(stream, &priority));
  add<<<1, 1, 0, stream>>>(x, 1);
  wait();
  return answer(priority == greatest && greatest <= least && *x == 1);
}
