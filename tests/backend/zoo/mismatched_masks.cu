// SPDX-License-Identifier: MIT
// Lanes of one exchange do not agree about who takes part.
// EXPECT: {file}:{shuffle}: error: __shfl_sync waits for lanes that never come in kernel 'own_masks', block (0,0,0), thread (0,0,0)
// EXPECT: mask 0x0000ffff of warp 0: missing are lanes 8-15
// EXPECT: {file}:{shuffle}: note: threads 0-7 waiting here in __shfl_sync with mask 0x0000ffff
// EXPECT: {file}:{shuffle}: note: threads 8-31 waiting here in __shfl_sync with mask 0xffffffff

__global__ void own_masks(int* x) {
  const unsigned mask = threadIdx.x < 8 ? 0x0000ffffu : 0xffffffffu;
  x[threadIdx.x] = __shfl_sync(mask, x[threadIdx.x], 8);  // @shuffle
}

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(int));
  own_masks<<<1, 32>>>(d_x);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  return 0;
}
