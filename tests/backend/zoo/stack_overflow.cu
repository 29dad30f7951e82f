// SPDX-License-Identifier: MIT
// Frames that are more than a thread's stack.
#include "cases.cuh"

// CASE: endless_recursion
// EXPECT: error: stack overflow in kernel 'recurse', block (0,0,0), thread (0,0,0)
__device__ int depth(int n, volatile int* trail) {
  volatile int frame[16];
  frame[n % 16] = n;
  *trail = n;
  if (n < 0) return 0;  // never
  return depth(n + 1, trail) + frame[n % 16];
}

__global__ void recurse(int* x) { *x = depth(0, x); }

CASE(endless_recursion) {
  run_on(1, [](int* x) { recurse<<<1, 1>>>(x); });
}

// CASE: big_local_array
// EXPECT: error: stack overflow in kernel 'big', block (0,0,0), thread (0,0,0)
__global__ void big(int* x, int n) {
  volatile int local[4 * 1024 * 1024];
  for (int i = 0; i < n; ++i) local[i] = i;
  *x = local[n / 2];
}

CASE(big_local_array) {
  run_on(1, [](int* x) { big<<<1, 1>>>(x, 1024); });
}
