// SPDX-License-Identifier: MIT
// FEATURE: atomics and order: `cuda::atomic` as a variable
#include <cuda/atomic>

#include "program.h"

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
