// SPDX-License-Identifier: MIT
// FEATURE: atomics and order: `cuda::atomic_ref`
#include <cuda/atomic>

#include "program.h"

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
