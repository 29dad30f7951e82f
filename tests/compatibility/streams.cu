// SPDX-License-Identifier: MIT
// FEATURE: streams and graphs: streams and events
#include "program.h"

__global__ void add(int* x, int n) { *x += n; }

int main() {
  int* x = numbers();
  cudaStream_t one, two;
  cudaEvent_t event;
  MUST(cudaStreamCreate(&one));
  MUST(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
  MUST(cudaEventCreate(&event));
  add<<<1, 1, 0, one>>>(x, 1);
  MUST(cudaEventRecord(event, one));
  MUST(cudaStreamWaitEvent(two, event, 0));
  add<<<1, 1, 0, two>>>(x, 2);
  MUST(cudaStreamSynchronize(two));
  MUST(cudaEventQuery(event));
  return answer(*x == 3);
}
