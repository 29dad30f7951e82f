// SPDX-License-Identifier: MIT
// FEATURE: asynchronous copies: `cuda::pipeline`
#include <cuda/pipeline>

#include "program.h"

__global__ void show(int* out) {
  __shared__ int x[32];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(x + threadIdx.x, out + 32 + threadIdx.x, sizeof(int), pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  __syncthreads();
  out[threadIdx.x] = x[31 - threadIdx.x];
  pipe.consumer_release();
}

int main() {
  int* out = numbers();
  for (int i = 0; i < 64; ++i) out[i] = i;
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 63);
}
