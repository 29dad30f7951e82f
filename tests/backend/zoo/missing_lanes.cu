// SPDX-License-Identifier: MIT
// A shuffle in a branch has a mask that names all lanes of the warp. The others wait at the
// barrier.
// EXPECT: {file}:{shuffle}: error: __shfl_down_sync waits for lanes that never come in kernel 'half_shuffles', block (0,0,0), thread (32,0,0)
// EXPECT: mask 0xffffffff of warp 1: missing are lanes 16-31
// EXPECT: {file}:{shuffle}: note: threads 32-47 waiting here in __shfl_down_sync with mask 0xffffffff
// EXPECT: {file}:{barrier}: note: threads 0-31, 48-63 waiting here in __syncthreads

__global__ void half_shuffles(float* x) {
  float v = x[threadIdx.x];
  if (threadIdx.x >= 32 && threadIdx.x < 48) {
    v += __shfl_down_sync(0xffffffffu, v, 8);  // @shuffle
  }
  __syncthreads();  // @barrier
  x[threadIdx.x] = v;
}

int main() {
  float* d_x = nullptr;
  cudaMalloc(&d_x, 64 * sizeof(float));
  half_shuffles<<<1, 64>>>(d_x);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  return 0;
}
