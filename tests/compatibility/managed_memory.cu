// SPDX-License-Identifier: MIT
// FEATURE: memory: managed memory, prefetched and advised
#include "program.h"

__global__ void show(int* x) { x[threadIdx.x] += threadIdx.x; }

int main() {
  int* x = numbers();
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0};
  MUST(cudaMemAdvise(x, 4096, cudaMemAdviseSetPreferredLocation, device));
  MUST(cudaMemPrefetchAsync(x, 4096, device, 0, nullptr));
  show<<<1, 32>>>(x);
  wait();
  return answer(x[31] == 31);
}
