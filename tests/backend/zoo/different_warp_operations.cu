// SPDX-License-Identifier: MIT
// Half of a mask's lanes vote while the others sum.
// EXPECT: {file}:{sum}: error: lanes of one mask call different warp operations in kernel 'two_operations', block (0,0,0), thread (16,0,0)
// EXPECT: mask 0xffffffff: __reduce_add_sync here, __any_sync by other lanes

__global__ void two_operations(int* x) {
  const int i = threadIdx.x;
  if (i < 16) {
    x[i] = __any_sync(0xffffffffu, i == 3);
  } else {
    x[i] = __reduce_add_sync(0xffffffffu, i);  // @sum
  }
}

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(int));
  two_operations<<<1, 32>>>(d_x);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  return 0;
}
