// SPDX-License-Identifier: MIT
// One element past the end is read, not written: no guard page and no changed byte shows it. The
// address sanitizer does.
// BUILD: cpu-asan
// EXPECT: {file}:{read}: error: out-of-bounds read in kernel 'last', block (0,0,0), thread (0,0,0)
// EXPECT: that is element 3; valid are 0 to 2
// EXPECT: {file}:{alloc}: note: allocated here by cudaMalloc
// EXPECT: ERROR: AddressSanitizer

#include "../../../common/check.cuh"

__global__ void last(const int* x, int n, int* y) {
  *y = x[n];  // @read
}

int main() {
  int *x, *y;
  CUDA_CHECK(cudaMalloc(&y, sizeof(int)));
  CUDA_CHECK(cudaMalloc(&x, 3 * sizeof(int)));  // @alloc
  last<<<1, 1>>>(x, 3, y);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
