// SPDX-License-Identifier: MIT
// GROUP: atomics and order
#include "program.h"

// FEATURE: atomic_ref: `cuda::atomic_ref`
#include <cuda/atomic>

__global__ void show(int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> sum(*out);
  sum.fetch_add(2, cuda::memory_order_relaxed);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 64);
}

// FEATURE: atomics: atomics on integers
__global__ void show(int* out) {
  atomicAdd(out, 1);
  atomicMax(out + 1, int(threadIdx.x));
  atomicOr(out + 2, 1 << threadIdx.x % 8);
  atomicExch(out + 3, 5);
  atomicCAS(out + 4, 0, 6);
  atomicInc(reinterpret_cast<unsigned*>(out + 5), 9);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 32 && out[1] == 31 && out[2] == 255 && out[3] == 5 && out[4] == 6 &&
                out[5] == 2);
}

// FEATURE: block_votes: `__syncthreads_count`, `_and`, `_or`
__global__ void show(int* out) {
  const int t = threadIdx.x;
  const int count = __syncthreads_count(t < 40), all = __syncthreads_and(t < 64),
            any = __syncthreads_or(t == 70);
  if (t == 0) out[0] = count + (all != 0) + (any != 0);
}

int main() {
  int* out = numbers();
  show<<<1, 64>>>(out);
  wait();
  return answer(out[0] == 41);
}

// FEATURE: cuda_atomic: `cuda::atomic` as a variable
#include <cuda/atomic>

__device__ cuda::atomic<int, cuda::thread_scope_device> sum;
__global__ void show() { ++sum; }
__global__ void tell(int* out) { *out = sum.load(); }

int main() {
  int* out = numbers();
  show<<<1, 32>>>();
  tell<<<1, 1>>>(out);
  wait();
  return answer(*out == 32);
}

// FEATURE: fences: `__threadfence` and a ticket
__device__ int ticket;
__global__ void show(int* out) {
  out[1 + blockIdx.x] = 1;
  __threadfence();
  if (atomicAdd(&ticket, 1) == int(gridDim.x) - 1) {
    __threadfence();
    for (unsigned i = 0; i < gridDim.x; ++i) out[0] += out[1 + i];
  }
}

int main() {
  int* out = numbers();
  show<<<16, 1>>>(out);
  wait();
  return answer(out[0] == 16);
}

// FEATURE: float_atomics: `atomicAdd` of `float` and `double`
__global__ void show(float* x, double* y) {
  atomicAdd(x, 0.5f);
  atomicAdd(y, 0.25);
}

int main() {
  float* x = numbers<float>();
  double* y = numbers<double>();
  show<<<1, 32>>>(x, y);
  wait();
  return answer(*x == 16 && *y == 8);
}

// FEATURE: half_atomics: `atomicAdd` of `__half2` and `__nv_bfloat16`
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void show(__half2* x, __nv_bfloat16* y) {
  atomicAdd(x, __floats2half2_rn(1, 2));
  atomicAdd(y, __float2bfloat16(1));
}

int main() {
  __half2* x = reinterpret_cast<__half2*>(numbers());
  __nv_bfloat16* y = reinterpret_cast<__nv_bfloat16*>(numbers());
  show<<<1, 32>>>(x, y);
  wait();
  return answer(__low2float(*x) == 32 && __high2float(*x) == 64 && __bfloat162float(*y) == 32);
}

// FEATURE: scoped_atomics: atomics with a scope: `atomicAdd_block`, `atomicAdd_system`
__global__ void show(int* out) {
  atomicAdd_block(out + blockIdx.x, 1);
  atomicAdd_system(out + 2, 1);
}

int main() {
  int* out = numbers();
  show<<<2, 32>>>(out);
  wait();
  return answer(out[0] == 32 && out[1] == 32 && out[2] == 64);
}
