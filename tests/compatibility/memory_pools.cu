// SPDX-License-Identifier: MIT
// FEATURE: memory: `cudaMallocAsync` and memory pools
#include "program.h"

__global__ void show(int* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
  int *x = nullptr, h_x[32];
  cudaMemPool_t pool;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  MUST(cudaMemPoolCreate(&pool, &properties));
  MUST(cudaMallocFromPoolAsync(&x, sizeof(h_x), pool, nullptr));
  show<<<1, 32>>>(x);
  MUST(cudaMemcpyAsync(h_x, x, sizeof(h_x), cudaMemcpyDeviceToHost));
  MUST(cudaFreeAsync(x, nullptr));
  wait();
  MUST(cudaMemPoolDestroy(pool));
  return answer(h_x[31] == 31);
}
