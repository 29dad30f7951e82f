// SPDX-License-Identifier: MIT
// FEATURE: memory: pitched memory and 2D copies
#include "program.h"

int main() {
  int *x = nullptr, in[3][5], out[3][5] = {};
  size_t pitch = 0;
  for (int i = 0; i < 15; ++i) in[i / 5][i % 5] = i;
  MUST(cudaMallocPitch(&x, &pitch, 5 * sizeof(int), 3));
  MUST(cudaMemcpy2D(x, pitch, in, 20, 20, 3, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy2D(out, 20, x, pitch, 20, 3, cudaMemcpyDeviceToHost));
  MUST(cudaFree(x));
  return answer(pitch >= 20 && out[2][4] == 14);
}
