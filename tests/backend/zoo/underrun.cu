// SPDX-License-Identifier: MIT
// A stencil writes x[-1]: this is found when the kernel has ended.
// EXPECT-STATUS: 1
// EXPECT: {file}:{launch}: error: write before the start of an allocation in kernel 'shift'
// EXPECT: found when it had ended
// EXPECT: a byte was written 4 bytes before the start of a 4000-byte allocation

#include "../../../common/check.cuh"

__global__ void shift(int* x) {
  const int i = static_cast<int>(threadIdx.x);
  x[i - 1] = i;
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 1000 * sizeof(int)));
  shift<<<1, 1000>>>(x);  // @launch
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
