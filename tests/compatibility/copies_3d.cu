// SPDX-License-Identifier: MIT
// FEATURE: memory: 3D memory and copies
#include "program.h"

int main() {
  int in[2][3][4], out[2][3][4] = {};
  for (int i = 0; i < 24; ++i) in[i / 12][i / 4 % 3][i % 4] = i;
  cudaPitchedPtr memory;
  const cudaExtent extent = make_cudaExtent(4 * sizeof(int), 3, 2);
  MUST(cudaMalloc3D(&memory, extent));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(in, 16, 16, 3);
  copy.dstPtr = memory;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  MUST(cudaMemcpy3D(&copy));
  copy.srcPtr = memory;
  copy.dstPtr = make_cudaPitchedPtr(out, 16, 16, 3);
  copy.kind = cudaMemcpyDeviceToHost;
  MUST(cudaMemcpy3D(&copy));
  return answer(out[1][2][3] == 23);
}
