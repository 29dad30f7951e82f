// SPDX-License-Identifier: MIT
// The upper half of the warp calls with the mask of the lower half.
// EXPECT: {file}:{sync}: error: a lane calls a warp operation with a mask that does not name it in kernel 'wrong_half', block (0,0,0), thread (16,0,0)
// EXPECT: __syncwarp: lane 16, mask 0x0000ffff

__global__ void wrong_half(int* x) {
  x[threadIdx.x] = 1;
  __syncwarp(0x0000ffffu);  // @sync
}

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(int));
  wrong_half<<<1, 32>>>(d_x);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  return 0;
}
