// SPDX-License-Identifier: MIT
// Each half of the warp votes, but all lanes name the lower half.
// EXPECT: {file}:{vote}: error: a lane calls a warp operation with a mask that does not name it in kernel 'half_votes', block (0,0,0), thread (16,0,0)
// EXPECT: __any_sync: lane 16, mask 0x0000ffff

__global__ void half_votes(const int* x, int* y) {
  y[threadIdx.x] = __any_sync(0x0000ffffu, x[threadIdx.x] > 0);  // @vote
}

int main() {
  int *d_x = nullptr, *d_y = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(int));
  cudaMalloc(&d_y, 32 * sizeof(int));
  cudaMemset(d_x, 0, 32 * sizeof(int));
  half_votes<<<1, 32>>>(d_x, d_y);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  cudaFree(d_y);
  return 0;
}
