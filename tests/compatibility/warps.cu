// SPDX-License-Identifier: MIT
// GROUP: warps
#include "program.h"

// FEATURE: active_mask: `__activemask`, `__syncwarp`
__global__ void show(int* out) {
  __shared__ int x[32];
  x[threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = x[31 - threadIdx.x] + ((__activemask() >> threadIdx.x & 1) != 0);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 32);
}

// FEATURE: matches: `__match_any_sync`, `__match_all_sync`
__global__ void show(int* out) {
  int same;
  __match_all_sync(0xffffffff, 7, &same);
  out[threadIdx.x] = __popc(__match_any_sync(0xffffffff, threadIdx.x / 4)) + same;
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[9] == 5);
}

// FEATURE: shuffles: shuffles
__global__ void show(int* out) {
  int x = threadIdx.x;
  for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffff, x, step);
  out[threadIdx.x] = __shfl_sync(0xffffffff, x, 0) + __shfl_xor_sync(0xffffffff, 1, 1);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[31] == 497);
}

// FEATURE: votes: votes
__global__ void show(int* out) {
  const unsigned all = 0xffffffff;
  const int odd = threadIdx.x % 2;
  const unsigned ballot = __ballot_sync(all, odd);
  out[threadIdx.x] = __popc(ballot) + (__any_sync(all, odd) != 0) + (__all_sync(all, odd) != 0);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 17);
}

// FEATURE: warp_reductions: `__reduce_add_sync` and its like
__global__ void show(int* out) {
  out[threadIdx.x] = __reduce_add_sync(0xffffffff, int(threadIdx.x)) +
                     __reduce_max_sync(0xffffffff, int(threadIdx.x));
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[5] == 527);
}
