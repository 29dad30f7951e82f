// SPDX-License-Identifier: MIT
// One element past the end, where the allocation is no multiple of 16 bytes: nothing faults there.
// The write is found when the kernel has ended.
// EXPECT-STATUS: 1
// EXPECT: {file}:{launch}: error: write past the end of an allocation in kernel 'fill'
// EXPECT: found when it had ended
// EXPECT: the byte right behind the end of a 12-byte allocation was written
// EXPECT: {file}:{alloc}: note: allocated here by cudaMalloc

#include "../../../common/check.cuh"

__global__ void fill(int* x, int n) {
  for (int i = 0; i <= n; ++i) x[i] = i;  // the bug: <=
}

int main() {
  const int n = 3;
  int* x;
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(int)));  // @alloc
  fill<<<1, 1>>>(x, n);                         // @launch
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
