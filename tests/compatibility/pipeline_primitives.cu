// SPDX-License-Identifier: MIT
// FEATURE: asynchronous copies: `__pipeline_memcpy_async`
#include <cuda_pipeline.h>

#include "program.h"

__global__ void show(int* out) {
  __shared__ int x[32];
  __pipeline_memcpy_async(x + threadIdx.x, out + 32 + threadIdx.x, sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = x[31 - threadIdx.x];
}

int main() {
  int* out = numbers();
  for (int i = 0; i < 64; ++i) out[i] = i;
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 63);
}
