// SPDX-License-Identifier: MIT
// FEATURE: kernels: the occupancy API
#include "program.h"

__global__ void show(int* out) { out[threadIdx.x] = 1; }

int main() {
  int blocks = 0, grid = 0, block = 0;
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, show, 256, 0));
  MUST(cudaOccupancyMaxPotentialBlockSize(&grid, &block, show));
  cudaFuncAttributes attributes;
  MUST(cudaFuncGetAttributes(&attributes, show));
  return answer(blocks > 0 && grid > 0 && block > 0 && attributes.maxThreadsPerBlock > 0);
}
