// SPDX-License-Identifier: MIT
// FEATURE: kernels: `cudaLaunchKernel`
#include "program.h"

__global__ void show(int* out, int add) { out[threadIdx.x] = threadIdx.x + add; }

int main() {
  int *out = numbers(), add = 4;
  void* arguments[] = {&out, &add};
  MUST(cudaLaunchKernel((void*)show, dim3(1), dim3(32), arguments, 0, nullptr));
  wait();
  return answer(out[31] == 35);
}
