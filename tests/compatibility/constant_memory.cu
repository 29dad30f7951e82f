// SPDX-License-Identifier: MIT
// FEATURE: memory: `__constant__` memory
#include "program.h"

__constant__ int table[32];
__global__ void show(int* out) { out[threadIdx.x] = table[31 - threadIdx.x]; }

int main() {
  int* out = numbers();
  int h_table[32];
  for (int i = 0; i < 32; ++i) h_table[i] = i;
  MUST(cudaMemcpyToSymbol(table, h_table, sizeof(h_table)));
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 31);
}
