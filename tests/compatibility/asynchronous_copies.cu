// SPDX-License-Identifier: MIT
// GROUP: asynchronous copies
#include "program.h"

// FEATURE: cuda_barrier: `cuda::barrier`
#include <cuda/barrier>
#include <utility>

__global__ void show(int* out) {
  __shared__ int x[32];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  x[threadIdx.x] = threadIdx.x;
  auto token = bar.arrive();
  bar.wait(std::move(token));
  out[threadIdx.x] = x[31 - threadIdx.x];
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 31);
}

// FEATURE: cuda_pipeline: `cuda::pipeline`
#include <cuda/pipeline>

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

// FEATURE: pipeline_primitives: `__pipeline_memcpy_async`
#include <cuda_pipeline.h>

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
