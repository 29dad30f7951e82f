// SPDX-License-Identifier: MIT
// A kernel with a grid barrier is launched with <<<>>>: its blocks need not be resident together.
// EXPECT: {file}:{sync}: error: grid barrier in a launch that is not cooperative in kernel 'two_phases', block (0,0,0), thread (0,0,0)
// EXPECT: cudaLaunchCooperativeKernel
#include <cooperative_groups.h>

__global__ void two_phases(int* x) {
  x[blockIdx.x] = 1;
  cooperative_groups::this_grid().sync();  // @sync
}

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, sizeof(int));
  two_phases<<<1, 1>>>(d_x);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  return 0;
}
